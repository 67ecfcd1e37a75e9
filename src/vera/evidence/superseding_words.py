"""The closed lists of words by which a text says that something no longer holds as it was written: repeal,
suspension, annulment, retraction, expiry, replacement and amendment, in the seven languages that are read.
"""

from vera.text.late_regex import late_regex
from vera.text.lexicon import word_set
from vera.text.words import unmarked

ENDS = (
    r"replac(?:es?|ing)|supersed(?:es?|ing)|cancel(?:s|l?ing)?|repeal(?:s|ing)?|revok(?:es?|ing)"
    r"|rescind(?:s|ing)?|annul(?:s|ling)?|withdraws|obsoletes?|supplants?|takes? the place of"
    r"|in replacement of|suspends|retracts|abolish(?:es)?|quash(?:es)?|overturns|overrules|invalidates"
    r"|ersetz(?:t|en)|widerruf(?:t|en)|annullier(?:t|en)|storniert"
    r"|(?:tritt|treten) an die stelle|remplac(?:e|ent)|remplaçant|annulent?|abrogent?|supprime(?:nt)?"
    r"|se substituent? (?:a|à)u?x?|suspend(?:ent)?|abolit|retire(?:nt)?"
    r"|deroga(?:n|ndo)?|derogó|anula(?:n|m|ndo)?|anuló|revoca(?:n|no)?|revocó|sustituyen?|sustituyó"
    r"|reemplazan?|suspende(?:n|m)?|suspendió|suprime[nm]|dejan? sin efecto|dejó sin efecto"
    r"|abroga(?:n|no)?|annulla(?:no)?|annullò|sospend(?:e|ono)|sostituisc(?:e|ono)|sopprim(?:e|ono)"
    r"|revogam?|revogou|anulou|suspendeu|substitu(?:i|em)"
)
CHANGES = (
    r"amends|amending|modifies|modifying|varies|(?:ab)?änder(?:t|n)|modifie(?:nt)?"
    r"|modifican?|modificano|alteram?"
)
PAST = (
    r"replaced|superseded|cancell?ed|repealed|revoked|rescinded|annulled|withdrawn|abrogated|obsoleted"
    r"|suspended|retracted|abolished|quashed|overturned|overruled|invalidated"
)
ENDED = (
    rf"{PAST}|deleted|struck out|terminated|(?:declared )?(?:null and )?void|(?:declared )?invalid"
    r"|set aside|expired|lapsed"
)
CHANGED = r"amended|modified|varied|restated"
BE = r"(?:is|are|was|were|be|been|being|stands?|hereby)"

GERMAN_ENDED = (
    r"ersetzt|aufgehoben|gestrichen|abgelöst|widerrufen|annulliert|storniert|neu gefasst"
    r"|außer kraft(?: (?:gesetzt|getreten))?|ausgesetzt|zurückgezogen|zurückgenommen|kassiert|weggefallen"
    r"|erloschen"
    r"|abgelaufen|für (?:nichtig|ungültig|unwirksam) erklärt|abgeschafft|ungültig geworden"
)
FRENCH_ENDED = (
    r"(?:remplac|annul|abrog|supprim|résili|révoqu|rétract|cass|invalid|expir|retir)ée?s?"
    r"|suspendue?s?|aboli?e?s?|caducs?|caduques?"
)
ROMANCE_BE = (
    r"(?:es|son|fue|fueron|ha sido|han sido|quedan?|quedó|quedaron|está|están|é|são|foi|foram|fica|ficam"
    r"|ficou"
    r"|ficaram|estão|foi declarad[oa]|è|sono|viene|vengono|venne|vennero|fu|furono|è stat[oa]|sono stat[ie]"
    r"|ha|han|hanno)"
)
ROMANCE_ENDED = (
    r"(?:derogad|anulad|revocad|suspendid|sustituid|reemplazad|suprimid|retirad|retractad|cancelad|invalidad"
    r"|eliminad|abolid|caducad|expirad|revogad|suspens|substituíd|abrogat|annullat|revocat|sospes|sostituit"
    r"|soppress|ritirat|ritrattat|invalidat|cancellat|abolit|decadut|scadut|cassat)[oaie]s?|sin efecto"
    r"|sem efeito"
)
ROMANCE_CHANGED = r"(?:modificad|enmendad|reformad|alterad|modificat|emendat)[oaie]s?"

OVER = (
    r"ceas(?:es?|ed) to (?:apply|have effect|be in force|be valid)"
    r"|(?:is|are) no longer (?:in force|valid|applicable|in effect)|no longer applies|no longer apply"
    r"|ha(?:s|ve) (?:lapsed|expired)|(?:lapsed|expired) (?:on|in)"
    r"|(?:tritt|treten|trat|traten) (?:[\w. ]{0,40}? )?au(?:ß|ss)er kraft|(?:entfällt|entfallen|entfiel)"
    r"|(?:ist|sind) nicht mehr (?:gültig|anwendbar|in kraft|anzuwenden)|(?:gilt|gelten) nicht mehr"
    r"|(?:n['’]est|ne sont) plus (?:valables?|applicables?|en vigueur)|ne s['’]appliquent? plus"
    r"|(?:a|ont) cessé (?:de s['’]appliquer|d['’]être (?:en vigueur|applicables?)|d['’]avoir effet)"
    r"|ya no (?:estan?|está|están|rigen?|se aplican?|son?|es|tienen?) ?(?:en vigor|vigentes?|válid[oa]s?"
    r"|aplicables?|efecto)?"
    r"|(?:dejó|dejaron|ha dejado|han dejado) de (?:estar en vigor|estar vigentes?|regir|aplicarse"
    r"|tener (?:efecto|vigencia|validez)|ser aplicables?|surtir efectos?)|(?:perdió"
    r"|perdieron) (?:su )?vigencia"
    r"|non (?:è|sono) più (?:in vigore|valid[oaie]|applicabil[ei]|vigent[ei])|non si applica(?:no)? più"
    r"|(?:ha|hanno) (?:cessato di avere (?:effetto|efficacia|vigore)|cessato di applicarsi"
    r"|perso (?:efficacia|validità))|(?:cessò|cessarono) di avere (?:effetto|efficacia|vigore)"
    r"|(?:já não|não) est(?:á|ão) (?:mais )?em vigor|(?:deixou|deixaram) de (?:vigorar|estar em vigor"
    r"|ter (?:efeito|validade)|produzir efeitos|ser aplicáve(?:l|is)|se aplicar)"
    r"|(?:perdeu|perderam) (?:a )?(?:vigência|validade)|não se aplicam? mais"
)

CHINESE_ENDS = (
    r"废止|失效|作废|撤销|撤回|取消|取代|代替|替代|删除|删去|停止(?:执行|施行|实施|适用)|暂停(?:执行|施行|实施|适用)"
    r"|中止(?:执行|施行|实施|适用)|不再(?:有效|适用|执行|施行|生效)|廢止|撤銷|取代"
)
CHINESE_TAKES = late_regex(r"废止|作废|撤销|撤回|取消|取代|代替|替代|删除|删去|停止|暂停|中止|廢止|撤銷")
"""Of these, what may stand before its thing."""
CHINESE_CHANGES = r"修改为|修订为|改为|更正为|予以修改"
CHINESE_DENIED = late_regex(r"不(?!再)|未|没有|沒有|并非|无需|勿")
CHINESE_UNSURE = late_regex(
    r"拟|建议|草案|如果|如(?!下)|若|假如|可能|征求意见|讨论稿|部分|据称|将(?!第|原|《|“|「|其)|除.{1,20}外|仅|时(?:，|,)"
)
CHINESE_LEADS = late_regex(
    r"\A(?:自|从|从?即日起|本[^，。]{0,12}起|根据[^，。]{0,30}|经[^，。]{0,20}|现|兹|特|决定|并|且|同时|将|把|对|其中|原|旧|此前的?|上述)+"
)
CHINESE_TRAILS = late_regex(
    r"(?:同时|即行|即|均|已经?|已被|被[^，。]{0,30}|予以|一并|现|现已|自[^，。]{1,24}起|起|于[^，。]{1,20}[年月日]|正式|全部|由[^，。]{1,30}|随之"
    r"|宣布)+\Z"
)

CORRECTS = (
    r"correction|corrections|corrigend(?:um|a)|errat(?:um|a)|berichtigung\w{0,2}|korrektur\w{0,2}"
    r"|richtigstellung\w{0,2}|druckfehler\w{0,12}|rectificatif|rectification|correctif|corrección"
    r"|correcciones"
    r"|fe de erratas|rectificación|correzion[ei]|errata corrige|rettific(?:a|he)|correç(?:ão|ões)"
    r"|retificaç(?:ão|ões)"
    r"|更正(?:声明|启事|说明)?|勘误表?|訂正"
)
AMENDMENT = (
    r"amendment|addendum|variation|modification|nachtrag|änderung\w{0,14}|ergänzung\w{0,14}|zusatz\w{0,14}"
    r"|avenant|modificación|enmienda|adenda|modifica|emendamento|alteração|emenda|aditamento"
)
ADJUNCT = late_regex(
    r"(?i)(?:por tiempo (?:indefinido|indeterminado)|por tempo indeterminado|a tempo indeterminato"
    r"|temporalmente"
    r"|provisionalmente|cautelarmente|hasta nuevo aviso|con efectos? inmediatos?|con effetto immediato"
    r"|com efeito imediato|com efeitos imediatos|fino a nuovo avviso|até novo aviso"
    r"|jusqu['’]à nouvel (?:ordre|avis)"
    r"|until further notice|bis auf weiteres|with immediate effect|mit sofortiger wirkung"
    r"|avec effet immédiat),?\s"
)
"""When or for how long, between a verb and its thing."""

QUOTED = late_regex(
    r"\"([^\"]{1,200})\"|[“„]([^“”„]{1,200})[”“]|[«»]([^«»]{1,200})[»«]|‘([^‘’]{1,200})’"
    r"|[「『]([^」』]{1,200})[」』]"
    r"|(?<!\w)'([^']{1,200})'(?!\w)"
)

PUTS = late_regex(
    r"(?i)\b(?:reads?|replac\w{1,4}|substitut\w{1,4}|should be|must be|correct(?:ly|ed)?|amended|changed"
    r"|durch|ersetz\w{1,3}"
    r"|heißen|heißt|lies|richtig|lire|lisez|remplac\w{1,4}|debe decir|léase|sustitu\w{1,7}|reemplaz\w{1,5}"
    r"|leggasi|leggere"
    r"|legga|sostitu\w{1,7}|leia-se|substitu\w{1,6})\b|应为|应作|改为|更正为|替换为|修改为|应改"
)

INSTEAD = late_regex(
    r"(?i)\b(?:instead of|rather than|in place of|and not|not|statt|anstatt|anstelle|nicht|au lieu de|et non"
    r"|en (?:lugar|vez) de|y no|invece (?:di|che)|anziché|in luogo di|e non|em (?:vez|lugar) de|e não)\b"
    r"|而不是|而非"
)
"""Between two quotations: the second one is what is taken out."""

WORDED_CUT = late_regex(
    r"(?i)\b(?:wird|werden|for|replace|the words?|the figures?|is|are|das wort|die wörter|le mot|les mots"
    r"|il faut"
    r"|donde|la palabra|las palabras|la parola|le parole|onde|a palavra|as palavras|statt|au lieu|instead"
    r"|,)|将|中的?"
)

_BEGINNINGS = word_set(
    """repl supe canc repe revo resc annu with obso supp plac susp retr abol quas over inva abro dele stru
    term void
    laps expi ceas long read shal amen modi vari rest adde subs inst corr erra
    erse wide stor trit tret trat stel aufg gest abge auss kraf zuru kass wegg erlo nich ungu entf gilt gelt
    entw hebt
    hebe hob hobe sosp enme rett aden adit anwe anzu gult vali rige regi trat ausg lost lose setz zieh nimm
    nehm ande gean gefa fass laut folg nach erga zusa beri korr rich
    druc hies
    lies stat ungu
    remp resi cass reti cadu redi libe vigu vala appl cess aven rect lire lise lieu
    dero anul sust reem supr deja dejo efec vigo vige apli elim enmi refo alte reda perd decl fe deci leas
    sost sopp riti ritr deca scad pers effi appl legg inve anzi luog
    deix vale emen efei leia lugar vez muda"""
)
_WORD = late_regex(r"[^\W\d_]{2,40}")
_CHINESE = late_regex(rf"{CHINESE_ENDS}|{CHINESE_CHANGES}|应为|应作|应改|替换|更正|勘误")


def may_tell(line: str) -> bool:
    """A quick look: whether a line has a word that begins like one of those above."""
    if any(word[:4] in _BEGINNINGS for word in _WORD.findall(unmarked(line))):
        return True
    return not line.isascii() and _CHINESE.search(line) is not None
