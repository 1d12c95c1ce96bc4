"""Words of many languages that are not taken for what their frequency says."""

#: Names of months, which belong to a date if a number is near.
MONTHS = (
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec "
    "januar februar märz mai juni juli oktober dezember jänner "
    "janvier février mars avril juin juillet août septembre octobre novembre décembre "
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre "
    "gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre "
    "janeiro fevereiro março maio junho julho setembro outubro novembro dezembro "
    "januari februari maart mei augustus "
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października "
    "listopada grudnia "
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря "
    "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık "
    "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر"
)
#: Names of places, people and colours in which pages of a form may differ, and which are so
#: frequent in some language that the table of weights takes them for common words.
NAMES = (
    "london paris berlin madrid roma münchen amsterdam barcelona milano york stockholm oslo "
    "helsinki praha brno bratislava budapest bucurești istanbul ankara izmir jakarta manila kong "
    "lima buenos rio paulo київ львів москва москве 北京 上海 香港 서울 부산 दिल्ली ירושלים تهران "
    "deutschland france españa italia portugal nederland polska sverige danmark suomi россии "
    "россия украины türkiye românia india korea malaysia america american méxico brasil "
    "argentina cuba europe europa asia 台湾 中国 美国 日本 英国 法国 德国 俄罗斯 韩国 "
    "한국 미국 일본 중국 john david juan pierre anna иван александр "
    "north south west red black white"
)
