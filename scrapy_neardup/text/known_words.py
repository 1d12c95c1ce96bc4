"""Words of many languages that are not taken for what their frequency says."""

from .normalization import normalized_words

#: Names of months in many languages, a line for each; they belong to a date if a number is near.
_MONTHS = """
january jan januar jänner janvier enero gennaio janeiro januari stycznia января ocak يناير
february feb februar février febrero febbraio fevereiro februari lutego февраля şubat فبراير
march mar märz mars marzo março maart marca марта mart مارس
april apr avril abril aprile kwietnia апреля nisan أبريل
may mai mayo maggio maio mei maja мая mayıs مايو
june jun juni juin junio giugno junho czerwca июня haziran يونيو
july jul juli juillet julio luglio julho lipca июля temmuz يوليو
august aug août agosto augustus sierpnia августа ağustos أغسطس
september sep sept septembre septiembre settembre setembro września сентября eylül سبتمبر
october oct oktober octobre octubre ottobre outubro października октября ekim أكتوبر
november nov novembre noviembre novembro listopada ноября kasım نوفمبر
december dec dezember décembre diciembre dicembre dezembro grudnia декабря aralık ديسمبر
"""
#: Forms of other languages that are so frequent that the table of weights takes them for
#: common words; rarer ones are values as they are.
_MORE_MONTHS = """
ianuarie sausio
februarie лютого febrer vasario ফেব্রুয়ারি
martie март березня március març kovo martā मार्च মার্চ மார்ச்
aprilie април квітня április balandžio aprīlī এপ্রিল
май травня мај maig gegužės maijā মে மே
iunie junija juny birželio জুন
iulie липня julija juliol liepos مهر জুলাই
август серпня augusztus agost rugpjūčio augustā अगस्त আগস্ট
septembrie септември вересня szeptember září setembre rugsėjo septembrī সেপ্টেম্বর
octombrie октомври október oktobra spalio অক্টোবর
noiembrie lapkričio novembrī নভেম্বর
decembrie декември desembre gruodžio desember ডিসেম্বর
"""
#: The numbers of months, 1 to 12, by their names.
MONTHS = {
    name: number
    for names_of_year in (_MONTHS, _MORE_MONTHS)
    for number, names in enumerate(names_of_year.strip().splitlines(), start=1)
    for name in normalized_words(names)
}
#: Numbers and ordinals of languages for which ``word_sums.py`` has no list of its own: those that
#: are so frequent that the table of weights takes them for common words. Those of Danish and
#: Hungarian that are "to" and "has" elsewhere cost no copy on 3,476 real pages. Left out are "du",
#: "set" and articles such as "en" and "et".
MORE_NUMBERS = (
    "to ti hat två tre fyra fem sex första første andra fire anden andet million millions "
    "millioner millionen milioni millones milhões miljoen mil yksi kaksi kahden "
    "kolme neljä viisi ensimmäinen toinen "
    "jedna jedno jedan dva dvě dve dvije tři tri čtyři četiri štiri pět pet šest sto první prvi "
    "prva druhý druhé drugi druga třetí "
    "egy két három négy öt hét ezer első második harmadik "
    "doi două doua trei patru cinci nouă primul "
    "един една едно пет четири първи одне дві сім перший друга други двух тысяч "
    "cinc sis nou deu segon segona dues primer primeiro primeira "
    "ένα μία δύο δυο τρία τρεις πέντε πρώτο πρώτη dwóch ilk birinci ikinci milyon "
    "vienas viena dvi trys tris pirma viens divi divas trīs pirmais pirmā otrā "
    "ஒரு இரண்டு மூன்று நான்கு ஐந்து ஆறு பத்து முதல் "
    "یک دو سه چهار پنج ده صد هزار اول دوم سوم "
    "satu dua tiga empat lima enam juta pertama kedua ketiga "
    "एक दो तीन चार पांच पहली दूसरी दूसरे এক একটি দুই দুটি তিন চার পাঁচ প্রথম দ্বিতীয় তৃতীয় "
    "một hai ba năm tư nhất triệu "
    "하나 둘 한 두 세 네 열 첫 이 삼 사 오 팔 구 십 "
    "אחד אחת שני שתי שלושה שלוש שבע אלף ראשון"
)
#: Names of days of the week, and their abbreviations.
WEEKDAYS = (
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays "
    "thursdays fridays saturdays sundays mon tue tues wed thu thur thurs fri "
    "montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag montags dienstags "
    "mittwochs donnerstags freitags samstags sonntags "
    "lundi mardi mercredi jeudi vendredi samedi dimanche "
    "lunes martes miércoles jueves viernes sábado domingo "
    "lunedì martedì mercoledì giovedì venerdì sabato domenica "
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag "
    "poniedziałek wtorek środa czwartek piątek sobota niedziela "
    "понедельник вторник среда среду четверг пятница пятницу суббота субботу воскресенье "
    "pazartesi salı çarşamba perşembe cuma cumartesi pazar "
    "الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد "
    "周一 周二 周三 周四 周五 周六 周日 星期一 星期二 星期三 星期四 星期五 星期六 星期日 "
    "月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日 "
    "월요일 화요일 수요일 목요일 금요일 토요일 일요일"
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
    "한국 미국 일본 중국 러시아 john david juan pierre anna иван александр "
    "lille québec porto polsce polski polskie almanya rusya amerika suriye indonesia jepang jawa "
    "bali bandung norge göteborg malmö magyarország moldova cluj praze "
    "ελλάδα αθήνα θεσσαλονίκη ελλάδας "
    "германия франция китай україна росія україни росії польщі києві києва ישראל אביב "
    "مصر سوريا العراق إيران لبنان السعودية روسيا أمريكا إسرائيل الكويت اليمن المغرب "
    "ایران عراق ترکیه چین روسیه آمریکا اصفهان سوریه افغانستان "
    "चीन भारत पाकिस्तान अमेरिका बिहार राजस्थान पंजाब "
    "ভারত বাংলাদেশ পাকিস্তান ঢাকা চট্টগ্রাম সিলেট இந்தியா சென்னை இலங்கை மதுரை "
    "north south west red black white "
    # Of Vietnamese, each syllable is a word: countries, provinces, surnames and first names, but
    # none that are common words elsewhere, such as "an".
    "pháp đức mỹ lào việt nhật hàn thái ấn nội nẵng huế sài gòn hải phòng cần thơ "
    "quảng ninh bình định thanh hóa nghệ tĩnh lâm đồng khánh hòa tiền giang bến cà "
    "vĩnh phúc bắc tây phú thọ trung quốc "
    "nguyễn trần lê phạm hoàng huỳnh phan vũ võ đặng bùi đỗ hồ ngô dương lý "
    "anh tuấn dũng hùng linh hương minh hà hoa quang sơn thảo yến "
    "văn thị đình ngọc xuân hồng bảo châu"
)
