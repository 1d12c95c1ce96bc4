"""Tables of variant spellings: look-alike characters, other scripts, synonyms."""

from __future__ import annotations


def _table(pairs: str) -> dict[str, str]:
    """Return a dict of entries such as ``a:b`` that blanks separate; ``_`` stands for a blank."""
    return dict(entry.replace("_", " ").split(":", 1) for entry in pairs.split())


def _pairs(pairs: str) -> dict[str, str]:
    """Return a dict of entries of two characters each."""
    return {pair[0]: pair[1] for pair in pairs.split()}


def _both_ways(pairs: str) -> dict[str, str]:
    """Return a dict of two-character entries, each in both directions."""
    found: dict[str, str] = {}
    for pair in pairs.split():
        found.setdefault(pair[0], pair[1])
        found.setdefault(pair[1], pair[0])
    return found


#: Simplified characters and the traditional ones that mostly stand for them.
TRADITIONAL = _pairs(
    """
个個 时時 里裡 这這 后後 点點 会會 间間 来來 为為 两兩 说說 开開 机機 过過 条條 读讀 没沒 对對
于於 车車 种種 发發 实實 处處 号號 问問 么麼 页頁 关關 数數 调調 线線 订訂 与與 从從 还還 几幾
钟鍾 计計 气氣 样樣 变變 电電 阅閱 换換 转轉 单單 们們 产產 内內 报報 记記 长長 动動 办辦 试試
进進 统統 装裝 经經 现現 师師 录錄 题題 续續 万萬 复復 写寫 旧舊 给給 键鍵 满滿 广廣 议議 请請
载載 养養 别別 体體 亲親 价價 设設 应應 据據 总總 蓝藍 屿嶼 区區 将將 铺鋪 团團 准準 台臺 匀勻
温溫 边邊 涨漲 细細 书書 评評 状狀 态態 门門 论論 户戶 结結 云雲 当當 网網 员員 话話 块塊 见見
干幹 让讓 场場 够夠 连連 学學 轻輕 带帶 联聯 优優 启啓 务務 无無 张張 热熱 认認 临臨 听聽 图圖
并並 刚剛 闻聞 继繼 测測 节節 参參 觉覺 约約 灯燈 项項 选選 划劃 吨噸 货貨 园園 专專 邮郵 声聲
头頭 墙牆 编編 笔筆 败敗 麦麥 较較 确確 搅攪 盖蓋 静靜 鲜鮮 观觀 栈棧 码碼 壳殼 软軟 质質 盘盤
愿願 扫掃 询詢 创創 库庫 却卻 语語 凑湊 财財 验驗 证證 购購 业業 费費 辆輛 贴貼 谁誰 拨撥 随隨
镜鏡 风風 钱錢 馆館 权權 备備 紧緊 杂雜 馊餿 汤湯 苹蘋 层層 稳穩 规規 纹紋 弹彈 显顯 缝縫 浅淺
画畫 唤喚 荐薦 纯純 储儲 称稱 闭閉 际際 终終 决決 筛篩 运運 摆擺 执執 该該 强強 厂廠 签籤 协協
残殘 采採 预預 领領 遥遙 东東 医醫 绍紹 诉訴 护護 担擔 夹夾 游遊 挂掛 儿兒 桥橋 阳陽 误誤 顺順
妈媽 爷爺 访訪 仅僅 资資 赞讚 浏瀏 览覽 隐隱 础礎 难難 麸麩 凉涼 厨廚 虚虛 拧擰 兴興 丢丟 顶頂
饿餓 红紅 烫燙 颜顏 艳艷 险險 枪槍 谈談 铁鐵 涂塗 侧側 积積 属屬 响響 颗顆 组組 卧臥 异異 净淨
导導 脑腦 扬揚 买買 轮輪 则則 齐齊 账賬 谓謂 缀綴 删刪 训訓 历歷 亿億 标標 渔漁 赠贈 独獨 构構
环環 萝蘿 盏盞 饮飲 邻鄰 拥擁 销銷 国國 讯訊 级級 晓曉 岚嵐 鲁魯 汉漢 饭飯 压壓 厢廂 驶駛 钮鈕
扰擾 亏虧 损損 补補 砚硯 宽寬 药藥 岁歲 镊鑷 犹猶 鸟鳥 丝絲 辈輩 极極 纸紙 递遞 脸臉 钥鑰 柜櫃
屉屜 针針 坏壞 帮幫 乐樂 枫楓 丰豐 岭嶺 梦夢 习習 义義 贯貫 届屆 摊攤 撑撐 伞傘 奖獎 铜銅 断斷
浇澆 绿綠 讨討 闹鬧 壶壺 弯彎 楼樓 孙孫 讲講 绒絨 课課 击擊 额額 伙夥 欢歡 吗嗎 维維 众眾 传傳
征徵 飨饗 归歸 责責 摄攝 阴陰 词詞 释釋 辑輯 简簡 链鏈 许許 错錯
"""
)

#: Latin letters and the Cyrillic ones that look the same.
HOMOGLYPHS = dict(zip("aeopcxyiABEHKMOPCTX", "аеорсхуіАВЕНКМОРСТХ", strict=True))

#: What text recognition confuses.
MISREAD_LATIN = _table(
    "rn:m m:rn l:1 o:0 cl:d d:cl h:b e:c c:e i:l u:ii n:ri S:5 B:8 O:0 I:l g:q t:f f:t a:o vv:w "
    "w:vv ä:a ö:o ü:u ß:B"
)
MISREAD_CYRILLIC = _table("н:п п:н и:н ш:щ щ:ш о:0 ц:и в:б з:э е:с с:е л:п ь:ъ т:г г:т а:я")
MISREAD_HAN = _both_ways(
    "未末 己已 日曰 人入 大太 土士 干千 天夫 木本 白自 目且 问间 今令 鸟乌 兔免 侯候 折拆 辨辩 "
    "拔拨 上止 不丕 的昀 这达 在任 有冇 时吋 来未 个介 们门 为办 和知 要耍 出屾 会公 可司 也它 "
    "你称 到剑 面而 年午 过讨 下卞 多夕 小少 没设 用甩 第弟 分兮 月用 水永 开井 车东 线绒 高亭 "
    "两雨 はほ ソン シツ るろ ぬめ わね きさ いり たに にこ てで とど かが がか しじ をお "
    "手毛 古占 書害"
)

#: Characters that input methods offer for the same sound.
SAME_SOUND = _both_ways(
    "的得 在再 做作 像象 他她 以已 和合 是事 时实 有又 到道 个各 会回 这着 了乐 里理 一以 就旧 "
    "年念 成城 没每 后候 天添 小晓 多夺 上尚 用永 把吧 要药 说硕 公工 开凯 线现 家加 第地 间件"
)
SAME_SOUND_KANA = _both_ways(
    "はわ をお へえ ずづ じぢ おう 回会 取採 使遣 合会 元基 立建 引弾 時字 書欠 水見 手出 方形 替変"
)

#: Words and others that may stand in their place.
SYNONYMS = {
    "en": _table(
        "about:around almost:nearly also:too although:though because:since before:until "
        "began:started begin:start big:large buy:purchase cannot:can't costs:runs difficult:hard "
        "entire:whole every:each first:initial found:discovered goes:moves help:assist keep:retain "
        "large:big learned:learnt long:lengthy looks:appears many:numerous mostly:mainly "
        "need:require nobody:no_one often:frequently old:aged only:just people:folk quickly:fast "
        "quite:rather said:stated several:various simple:easy small:little somebody:someone "
        "sometimes:occasionally still:yet stop:halt suddenly:abruptly takes:needs told:informed "
        "usually:normally very:really want:wish whole:entire work:labour"
    ),
    "zh": _table(
        "但是:可是 因为:由于 所以:因此 现在:目前 已经:早已 非常:十分 很多:许多 一直:始终 "
        "如果:假如 可以:能够 需要:须要 以后:之后 每天:天天 开始:起初 办法:方法 觉得:感到 "
        "全部:所有 继续:接着 告诉:告知 几乎:差不多 大约:大概 确实:的确 往往:常常 问题:毛病 "
        "建议:提议 第一:首个 只有:仅有"
    ),
    "de": _table(
        "auch:ebenfalls aber:jedoch alle:sämtliche bereits:schon schon:bereits deutlich:klar "
        "etwa:ungefähr jedoch:allerdings mehr:weitere nur:lediglich regelmäßig:ständig rund:etwa "
        "sagte:erklärte kostenlos:gratis zeigt:meldet kostet:beträgt vergangenen:letzten "
        "freien:leeren suchen:forschen geplant:vorgesehen Menschen:Personen vermisst:wünscht "
        "angekündigt:versprochen begrüßt:lobt entfernt:abgebaut gesammelt:aufgefangen "
        "erhältlich:zu_haben danach:anschließend täglich:jeden_Tag"
    ),
    "ru": _table(
        "если:коли когда:как_только только:лишь потом:затем очень:весьма чтобы:дабы обычно:чаще "
        "говорит:утверждает сразу:немедленно почти:практически потому:оттого "
        "ещё:всё_ещё вдруг:внезапно надо:нужно несколько:пара маленькой:небольшой хозяин:владелец "
        "каждый:любой вечером:под_вечер белую:светлую помидорами:томатами ждать:ожидать "
        "башня:вышка последний:крайний видел:наблюдал тоже:также"
    ),
    "ja": _table(
        "すこし:少々 おそれ:心配 十分:足り 必要:入り用 ゆっくり:静かに はじめ:最初 しっかり:よく "
        "多く:大半 すぐに:ただちに 新しい:あたらしい 一番:もっとも"
    ),
}

#: British spellings and the American ones.
AMERICAN = _table(
    "olour:olor arbour:arbor avour:avor eighbour:eighbor metre:meter litre:liter centre:center "
    "programme:program grey:gray fertilis:fertiliz per_cent:percent labour:labor organis:organiz "
    "jewell:jewel travell:travel catalogue:catalog telephone:phone autumn:fall timber:lumber "
    "lorries:trucks petrol:gas pavement:sidewalk towards:toward learnt:learned"
)

#: Chinese and Japanese punctuation and that of Latin script.
HALF_WIDTH = dict(zip("，。：；！？（）、“”‘’", ",.:;!?(),\"\"''", strict=True))

#: Readings of common characters, for annotations above them.
PINYIN = _table(
    "的:de 一:yī 是:shì 不:bù 了:le 在:zài 人:rén 有:yǒu 我:wǒ 他:tā 这:zhè 个:gè 们:men 中:zhōng "
    "来:lái 上:shàng 大:dà 为:wéi 和:hé 到:dào 以:yǐ 说:shuō 时:shí 要:yào 就:jiù 出:chū 会:huì "
    "可:kě 也:yě 你:nǐ 对:duì 生:shēng 能:néng 而:ér 子:zǐ 那:nà 得:dé 于:yú 下:xià 自:zì 之:zhī "
    "年:nián 过:guò 后:hòu 家:jiā 水:shuǐ 天:tiān 车:chē 表:biǎo 面:miàn 小:xiǎo 多:duō 没:méi "
    "起:qǐ 还:hái 用:yòng 道:dào 想:xiǎng 开:kāi 手:shǒu 看:kàn 只:zhǐ 两:liǎng 三:sān 月:yuè"
)
KANA = _table(
    "万年筆:まんねんひつ 手入れ:ていれ 水:みず 時間:じかん 洗剤:せんざい 首軸:くびじく 溝:みぞ "
    "布:ぬの 色:いろ 手順:てじゅん 一晩:ひとばん 線:せん 紙:かみ 新:あたら 毎日:まいにち 癖:くせ "
    "原因:げんいん 必要:ひつよう 専門店:せんもんてん 軸:じく 場合:ばあい 今回:こんかい 書:か"
)
