"""What a sentence says of the lines before or below it: that they are untrue, invented, somebody else's word,
refused, suspended, or of another time.

One closed list of words for each of these, in English, German, French, Spanish, Italian, Portuguese and
Chinese. A word counts only in a sentence that points: a lead ("the following …", or a colon at its end), a
remark ("all of the above …", "this claim …"), or an opening that speaks of the whole document. Texts are
compared in lower case and without diacritics (`plain`).
"""

import re

from vera.text.late_regex import late_regex
from vera.text.words import folded, unmarked

LIMIT = 600
"""Characters of the longest sentence that is read."""


def _words(*alternatives: str, chinese: str = "") -> str:
    """One of these words, or of these Chinese ones, which have no space around them."""
    listed = "|".join(alternatives)
    return rf"(?:\b(?:{listed})\b{'|' + chinese if chinese else ''})"


_UNTRUE = _words(
    r"(?<!set to )(?<!returns )(?<!or )(?<!=)(?<!= )false(?! if\b)|falsely|untrue|incorrect|erroneous"
    r"|bogus|fabricated",
    r"unfounded|baseless|refuted|disproved|disproven|debunked|wrongly|mistakenly",
    r"(?<!\bgo )(?<!\bgoes )(?<!\bgone )(?<!\bwent )(?<!\bgoing )wrong",
    r"falsch(?:e[mnrs]?)?|unwahr\w{0,2}|unrichtig\w{0,2}|unzutreffend\w{0,2}|widerlegt\w{0,2}|irrig\w{0,4}",
    r"irrtumlich\w{0,6}|falschlich\w{0,10}|gefalscht\w{0,2}|stimmt nicht|stimmen nicht|triff?t nicht zu",
    r"treffen nicht zu|faux|fausses?|erronee?s?|inexacte?s?|mensong\w{1,5}|infondee?s?|dementie?s?"
    r"|refutee?s?",
    r"a tort|fals[oa]s?|errone[oa]s?|incorrect[oa]s?|inexact[oa]s?|infundad[oa]s?|desmentid[oa]s?",
    r"equivocad[oa]s?|falsi|errat[oie]|erronee|erronei|inesatt[oaie]|infondat[oaie]|smentit[oaie]"
    r"|errad[oa]s?",
    r"incorret[oa]s?",
    chinese="不实|不属实|虚假|谣言|不成立|不正确|伪造|捏造|编造|不符合事实|子虚乌有|失实|假消息|错误的"
    "|是错误|有误"
    "|并非事实|不是事实|不是真的|不真实",
)
_INVENTED = _words(
    r"fictitious|fictional|fictive|made[- ]up|imaginary|invented|fiktiv\w{0,2}|erfunden\w{0,2}"
    r"|ausgedacht\w{0,2}",
    r"fictifs?|fictives?|imaginaires?|inventee?s?|fictici[oa]s?|imaginari[oa]s?|inventad[oa]s?|fittizi[oae]?",
    r"immaginari[oae]?|inventat[oaie]|april fools?(?: joke)?|april fool's(?: joke)?|aprilscherz\w{0,2}",
    r"poissons? d'avril|pesc[ei] d'aprile|inocentadas?|(?:mentira de )?(?:1o|1|primeiro) de abril",
    chinese="虚构|假想|杜撰|编造|愚人节",
)
_BELIEF = _words(
    r"myths?|misconceptions?|rumou?rs?|hoax(?:es)?|falsehoods?|legends|superstitions?|fallac(?:y|ies)",
    r"old wives' tales?|fake news|mythos|mythen|irrtum\w{0,3}|gerucht\w{0,2}|legenden|marchen",
    r"falschmeldung\w{0,2}|aberglauben?|mythes?|idees recues|rumeurs?|legendes|contre-verites?|mitos?|bulos?",
    r"rumores|leyendas|miti|dicerie|diceria|leggende|bufal[ae]|boatos?|lendas|crendices",
    chinese="谣言|传闻|流言|误区|迷思|讹传|辟谣|传言",
)
_REFUSED = _words(
    r"rejected|rejects? (?:this|that|these|the)|refused|turned down|voted down|dismissed|discarded"
    r"|abgelehnt\w{0,2}|verworfen\w{0,2}",
    r"zuruckgewiesen\w{0,2}|rejetee?s?|refusee?s?|ecartee?s?|rechazad[oa]s?|desestimad[oa]s?|descartad[oa]s?",
    r"respint[oaie]|bocciat[oaie]|scartat[oaie]|rigettat[oaie]|rejeitad[oa]s?|recusad[oa]s?|indeferid[oa]s?",
    chinese="否决|驳回|被拒绝|未获通过|未通过|未采纳|不予采纳|不予支持|不予采信|不予认定|不予认可",
)
_REPEALED = _words(
    r"repealed|revoked|rescinded|abolished|withdrawn|retracted|annulled|superseded|struck (?:out|down)",
    r"overturned|lapsed|expired|aufgehoben\w{0,2}|ausser kraft|zuruckgezogen\w{0,2}|widerrufen\w{0,2}",
    r"abrogee?s?|annulee?s?|retractee?s?|derogad[oa]s?|anulad[oa]s?|abrogat[oaie]|annullat[oaie]"
    r"|ritirat[oaie]",
    r"revocat[oaie]|revogad[oa]s?|caducad[oa]s?",
    chinese="废止|废除|作废|失效|撤销|撤回|撤稿",
)
_STOPPED = (
    r"\b(?:suspended|on hold|ausgesetzt|suspendue?s?|suspendid[oa]s?|sospes[oaie]|suspens[oa]s?)\b|暂停|中止"
)
_BARRED = (
    r"(?:forbidden|prohibited|banned|(?:not|no longer) (?:possible|allowed|permitted|available)|verboten"
    r"|untersagt"
    r"|eingestellt|nicht (?:erlaubt|moglich|gestattet|zulassig)|interdite?s?|impossible|pas (?:autoris\w{1,3}"
    r"|permise?s?|possible)|prohibid[oa]s?|no (?:esta|es|se) (?:permitid[oa]|posible|permite)|vietat[oaie]"
    r"|non (?:e )?(?:permess[oa]|possibile|consentit[oa])|proibid[oa]s?|nao (?:e |esta )?(?:permitid[oa]"
    r"|possivel))"
)
_AT_PRESENT = (
    r"(?:currently|at present|presently|at the moment|for now|for the time being|temporarily"
    r"|until further notice"
    r"|derzeit|zurzeit|zur zeit|momentan|vorerst|vorubergehend|bis auf weiteres|gegenwartig|actuellement"
    r"|en ce moment|pour l'instant|provisoirement|temporairement|momentanement|jusqu'a nouvel ordre"
    r"|actualmente"
    r"|por ahora|por el momento|de momento|temporalmente|provisionalmente|hasta nuevo aviso|attualmente"
    r"|al momento"
    r"|per ora|temporaneamente|provvisoriamente|fino a nuovo avviso|atualmente|por agora|por enquanto"
    r"|temporariamente|provisoriamente|ate novo aviso|ate nova ordem)"
)
_SUSPENDED = (
    rf"(?:{_STOPPED}|\b{_AT_PRESENT}\b[^.;:]{{0,40}}\b{_BARRED}\b"
    rf"|\b{_BARRED}\b[^.;:]{{0,40}}\b{_AT_PRESENT}\b"
    "|(?:目前|现阶段|暂时|即日起|暂)[^。；]{0,12}(?:禁止|停止|不得|取消|不允许))"
)
_NOT = (
    r"(?:not|no longer|none|nothing|neither|no|nicht|kein\w{0,2}|nichts|pas|rien|aucune?s?|nada"
    r"|ningun[oa]?|non"
    r"|niente|nulla|nessun[oa]?|nao|nenhuma?|never|nie|niemals|jamais|nunca|mai)"
)
_TRUE = (
    r"(?:true|correct|accurate|adopted|approved|confirmed|proven|proved|established|substantiated|the case"
    r"|in force"
    r"|wahr\w?|richtig\w{0,2}|korrekt|zutreffend|erwiesen|bestatigt|belegt|bewiesen|angenommen|beschlossen"
    r"|in kraft"
    r"|vraie?s?|exacte?s?|averee?s?|prouvee?s?|confirmee?s?|adoptee?s?|votee?s?|en vigueur|ciert[oa]s?"
    r"|verdad(?:er[oa]s?)?|correct[oa]s?|probad[oa]s?|confirmad[oa]s?|demostrad[oa]s?|aprobad[oa]s?|vigentes?"
    r"|en vigor|ver[oaie]|corrett[oaie]|provat[oaie]|confermat[oaie]|dimostrat[oaie]|approvat[oaie]|in vigore"
    r"|verdade|verdadeir[oa]s?|corret[oa]s?|comprovad[oa]s?|aprovad[oa]s?|em vigor)"
)
_NOT_TRUE = (
    rf"(?:\b{_NOT}(?: [^\s.:;,]{{1,20}}){{0,6}} {_TRUE}\b|\bun(?:confirmed|proven|substantiated)\b"
    r"|\bunbestatigt\w{0,2}\b|\bnot so(?=[.,;:!]|\Z)|未经证实|尚未证实|未被证实|未生效"
    r"|没有(?:一[条句个项])?是真)"
)
_CUE = late_regex(rf"{_UNTRUE}|{_INVENTED}|{_BELIEF}|{_REFUSED}|{_REPEALED}|{_NOT_TRUE}")
_CUE_OF_LEAD = late_regex(rf"{_UNTRUE}|{_INVENTED}|{_BELIEF}|{_NOT_TRUE}")
_CUES_OF_REMARK = rf"{_UNTRUE}|{_INVENTED}|{_BELIEF}|{_REFUSED}|{_REPEALED}|{_NOT_TRUE}|{_SUSPENDED}"
_CUE_OF_REMARK = late_regex(_CUES_OF_REMARK)
_DENIED = late_regex(
    r"(?:\b(?:not|no|nothing|nicht|kein\w{0,2}|nichts|pas|ne|rien|nada|non|niente|nulla|nao|without|ohne"
    r"|sans|sin"
    r"|senza|sem)(?: [^\s.:;,]{1,12}){0,2} |(?:不是|并非|没有|绝非|非|无))\Z"
)
"""What stands before a cue and denies it: "not a myth", "nothing here is invented"."""

_REFUSED_MARK = late_regex(_REFUSED)
_DISBELIEF = late_regex(
    r"\b(?:(?:do not|don't|never) (?:believe|trust|fall for|be fooled)|glauben? (?:sie |ihr )?nicht"
    r"|ne croyez pas"
    r"|no (?:crea[ns]?|creais)|non (?:crede(?:re|te)|creda)|nao acredite[m]?)\b|(?:不要|切勿|请勿"
    r"|勿)(?:相信|轻信|信)"
)
_FORWARD = late_regex(
    r"\b(?:following|below|what follows|that follow|which follow|as follows|folgend\w{1,2}|nachstehend\w{0,2}"
    r"|nachfolgend\w{0,2}|was folgt|unten|suivante?s?|ci-apres|ci-dessous|qui sui(?:t|vent)|siguientes?"
    r"|a continuacion|mas abajo|seguent[ei]|di seguito|qui sotto|quanto segue|che segu(?:e|ono)|seguintes?"
    r"|a seguir"
    r"|abaixo|que (?:se )?segue[m]?)\b|以下|下列|下述|下面|如下|下文"
)
_MANY = late_regex(
    r"\b(?:are|were|have|all|sind|waren|wurden|alle|sont|etaient|ont|tous|toutes|son|eran|fueron|han"
    r"|tod[oa]s|sono|erano"
    r"|furono|tutt[ie]|sao|eram|foram)\b|均|皆|都|全"
)
_OF_THESE = late_regex(
    r"\b(?:these|of (?:them|it|this|which)|diese[rs]?|davon|hiervon|ces|d'entre (?:eux|elles)|est[oa]s"
    r"|quest[ei]"
    r"|dest[ea]s|del[ea]s)\b|这些|其中"
)
_PARTY = _words(
    r"plaintiffs?|claimants?|applicants?|appellants?|petitioners?|complainants?|defendants?|respondents?",
    r"accused|prosecut\w{2,4}|witness(?:es)?|opponents?|critics|opposition|(?:an)?klager\w{0,3}"
    r"|beklagte[nr]?",
    r"antragsteller\w{0,4}|antragsgegner\w{0,4}|angeklagte[nr]?|beschuldigte[nr]?|zeug(?:e|en|in)",
    r"verteidig\w{2,6}|staatsanwalt\w{0,7}|kritiker\w?|gegner\w{0,3}|requerante?s?|demandeurs?"
    r"|demanderesses?",
    r"defendeurs?|defenderesses?|appelante?s?|intimee?s?|prevenue?s?|accusee?s?|temoins?|plaignante?s?",
    r"opposants?|detracteurs|demandantes?|demandad[oa]s?|actora|recurrentes?|acusad[oa]s?|querellantes?",
    r"testigos?|fiscal|denunciantes?|criticos|attor[ei]|attrice|ricorrent[ei]|convenut[oaie]|imputat[oaie]",
    r"testimon[ei]|querelant[ei]|pubblico ministero|autora?|reus?|arguid[oa]s?|reclamantes?|requerentes?",
    r"recorrentes?|testemunhas?|queixos[oa]s?",
    chinese="原告|被告|上诉人|申请人|证人|公诉人|辩护人",
)
_SAYS = _words(
    r"says?|said|stat(?:es?|ed)|submits?|submitted|claim(?:s|ed)?|alleg\w{1,4}|contend(?:s|ed)?|argue[sd]?",
    r"assert(?:s|ed)?|maintain(?:s|ed)?|testif(?:y|ies|ied)|plead(?:s|ed)?|according|view|(?:tragt|tragen"
    r"|trug|trugen)(?: [^ .;:]{1,14}){0,3} vor",
    r"behaupte\w{1,3}|geltend|sagt\w{0,2}|meint|bring(?:t|en) vor|vorbringen|fuhrt|erklart\w{0,2}|laut"
    r"|zufolge",
    r"soutien\w{1,4}|allegu?\w{1,4}|pretend\w{0,4}|aff[ie]rm\w{1,5}|valoir|expose\w{0,2}|declar\w{1,4}|dit"
    r"|disent",
    r"selon|d'apres|sostien\w{1,3}|aleg\w{1,4}|afirm\w{1,4}|dicen?|dijo|segun|manifiest\w{1,2}|asseri\w{1,4}",
    r"deduc\w{1,4}|dichiar\w{1,4}|secondo|sostengono|sustent\w{1,4}|diss\w{1,5}|segundo",
    chinese="诉称|辩称|称|主张|认为|陈述|表示|供述",
)
_BY_PARTY = late_regex(rf"{_PARTY}[^.;]{{0,60}}{_SAYS}|{_SAYS}[^.;]{{0,60}}{_PARTY}")
_COURT = late_regex(
    r"\b(?:court|tribunal|judges?|gericht\w{0,2}|richter\w{0,3}|kammer|senat|cour|juges?|juzgado|juez|sala"
    r"|giudice"
    r"|corte|tribunale|juiz|juiza)\b|法院|法庭|本院"
)
_ALLEGED = late_regex(
    r"\b(?:alleg(?:es?|ed|edly|ations?)|contends?|contended|purport\w{0,5}|supposedly|reportedly"
    r"|behaupte\w{1,3}"
    r"|angeblich\w{0,2}|pretendument|pretend(?:ent)?|soi-disant|supuestamente|presuntamente|presumibilmente"
    r"|alegadamente|supostamente)\b|据称|声称|据传|网传|谎称"
)
_UNTIL = late_regex(
    r"\b(?:until|till|up to|before|prior to|bis|vor|jusqu'(?:en|au|a)|avant|hasta|antes de[l]?|fino (?:al?"
    r"|alla?)"
    r"|prima del?|ate|antes d[oe])(?: [^\s.:;]{1,12}){0,4} (?:1[0-9]|20)[0-9]{2}\b|(?:1[0-9]"
    r"|20)[0-9]{2}年[^，。]{0,6}前"
)
_DUE = late_regex(
    r"\b(?:must|shall|should|please|muss|mussen|soll|sollen|bitte|doit|doivent|deben?|dev[eo]no?|devem)\b"
)
_FORMERLY = late_regex(
    r"\A\W{0,4}(?:formerly|previously|in the past|once|in former times|fruher\w{0,2}|ehemals|einst|damals"
    r"|bisher"
    r"|autrefois|jadis|anciennement|auparavant|antiguamente|anteriormente|antano|un tempo|in passato"
    r"|antigamente"
    r"|outrora)\b|\b(?:used to (?:be|apply|read|say)|(?:old|former|previous|earlier) (?:rules?|wording"
    r"|text|versions?"
    r"|law|terms|prices)|(?:alte|bisherige|fruhere)[rn]? (?:fassung|regelung|text|wortlaut)"
    r"|ancien(?:ne)?s? (?:textes?|versions?|redaction|regles?|tarifs?)"
    r"|(?:texto|redaccion|version|redacao|versao|tarifa) anterior|(?:vecchi[oae]|precedente) (?:testo"
    r"|versione|regole)"
    r"|testo previgente)\b|原先|从前|旧版|修订前|原条文|曾经|过去"
)
_ON_CONDITION = late_regex(
    r"\A\W{0,4}(?:\w{1,3}[.)] )?(?:(?:only|but only|except|just) (?:if|when|in|for|after|during)|if"
    r"|in case|in the event"
    r"|in an emergency|nur (?:wenn|falls|bei|im|in|fur)|falls|sofern|im falle?|im notfall|seulement"
    r"|uniquement|en cas"
    r"|solo (?:si|se|en|in)|solamente|unicamente|en caso|in caso|nel caso|soltanto|apenas|somente|em caso)\b"
    r"|\b(?:only if|only when|nur wenn|seulement si|uniquement si|solo si|solo se|somente se|apenas se|unless"
    r"|es sei denn|sauf si|a menos que|a meno che)\b|\b(?:if|unless|wenn|falls|sofern)\W{0,4}\Z"
    r"|\A\W{0,4}(?:如果|若|只有|仅在|仅当|倘|万一|一旦)"
)
_IF = {lang: late_regex(rf"\A\W{{0,4}}(?:\w{{1,3}}[.)] )?{word}\b") for lang, word in
       (("fr", "s(?:i|'ils?)"), ("es", "si"), ("it", "se"), ("pt", "se"))}  # fmt: skip
"""The words for "if" that mean something else in the neighbouring languages."""

_EXPECTED = late_regex(
    r"\W{0,6}(?:expected|wanted|erwartet\w{0,2}|attendue?s?|esperad[oa]s?|attes[oaie]|previst[oaie]|soll|期望"
    r"|预期|应为)"
    r"(?: (?:output|results?|values?|text|lines?|ausgabe|ergebnis|wert))?(?:输出|结果|值)?\s?:\W{0,4}"
)
_TRUE_OR_FALSE = (
    r"(?:(?:true|right|fact) or (?:false|wrong|fiction|myth)|(?:richtig|wahr) oder (?:falsch|unwahr)"
    r"|vrai ou faux"
    r"|verdadero o falso|verdad o mentira|vero o falso|verdadeiro ou falso|certo ou errado"
    r"|test your knowledge"
    r"|testez vos connaissances|test(?:e|en sie|et) (?:dein|ihr|euer) wissen|pon(?:ga"
    r"|gan)? a prueba (?:tus|sus)"
    r"|metti(?:te)? alla prova|teste (?:os )?(?:seus|teus) conhecimentos)"
)
_QUIZ = late_regex(
    rf"\A(?:.{{0,60}}[.!?:] )?\W{{0,6}}{_TRUE_OR_FALSE}(?:\W|\Z)|\b{_TRUE_OR_FALSE} ?[?:.]|判断题|判断对错"
    rf"|判断正误"
    r"|对还是错|是真是假|真假判断"
)
_KEY = late_regex(
    r"\A\W{0,6}(?:answers?|answer key|solutions?|losung\w{0,2}|auflosung|reponses?|corrige|respuestas?"
    r"|solucion(?:es)?"
    r"|rispost[ae]|soluzion[ei]|respostas?|soluc(?:ao|oes)|gabarito|答案|参考答案"
    r"|解答)(?![a-z])[^.]{0,30}:[^.]{0,200}"
    r"(?:\b(?:false|wrong|falsch|faux|falso|falsa|errad[oa]|sbagliat[oa])\b|错|误|假|×)"
)
_VERDICT = late_regex(
    r"\A\W{0,6}(?:label|verdict|status|results?|rating|ruling|judge?ment|finding|conclusion|etiqueta"
    r"|veredicto|estado"
    r"|resultado|conclusion|urteil|ergebnis|bewertung|fazit|befund|statut|resultat|etiquette|esito"
    r"|giudizio|stato"
    r"|verdetto|etichetta|risultato|veredito|decision|decisione|decisao|结论|判定|标签|状态|结果"
    r"|裁决)\W{0,3}[:=]\W{0,4}"
    rf"(?:\w{{1,12}} ){{0,3}}(?:contradict\w{{0,5}}|irrelevant|unresolved|unsupported|unverified"
    rf"|not (?:met|supported)"
    rf"|{_UNTRUE}|{_REFUSED}|{_BELIEF}|{_REPEALED})"
)
_BACK_ALL = late_regex(
    r"\b(?:(?:all|everything|nothing|none|no part|not a word|every word) (?:of )?(?:this|that|these|it"
    r"|the above)"
    r"|(?:everything|all|nothing|what(?: \w{1,12}){0,3}|the(?: \w{1,12}){1,3}|(?:written|said|stated)) above"
    r"|the (?:above|foregoing)|obige[mnrs]?|vorstehend\w{0,2}|oben (?:gesagte|geschriebene|stehende"
    r"|genannte)\w?"
    r"|(?:alles|nichts) (?:davon|hiervon|von alledem|oben|obige|das)|all(?:es)? (?:das|dies)|(?:das"
    r"|dies) alles"
    r"|ce qui precede|qui preceden?t?|ci-dessus|(?:tout|rien de)(?: tout)? (?:cela|ceci|ca|ce qui)"
    r"|lo anterior"
    r"|(?:todo|nada de)(?: todo)? (?:esto|eso|lo)|mas arriba|lo (?:dicho|escrito)|quanto (?:sopra|precede"
    r"|scritto|detto)"
    r"|(?:tutto|(?:niente|nulla) di)(?: tutto)? (?:cio|questo|quanto)|qui sopra|di cui sopra|acima"
    r"|(?:tudo|nada d)(?:e tudo)? ?(?:isto|isso|o que))\b|以上|上述|上文|前述|前文|全文|本文"
)
_BACK_NOUN = late_regex(
    r"\b(?:this|that|the|these|his|her|their|diese\w?|jene\w?|die|das|der|cette|ce|ces|la|les|esta|este"
    r"|esas?|questa"
    r"|questo|queste|tale|essa|esse|tal)(?: (?:last|first|latter|second|letzte|erste))? (?:claims?"
    r"|submissions?"
    r"|allegations?|assertions?|(?<!the )statements?|stor(?:y|ies)|rumou?rs?|sentences?|findings?|vorbringen"
    r"|behauptung\w{0,2}|aussagen?|darstellung|vortrag|meldung|gerucht|satz|these|affirmations?|rumeurs?"
    r"|phrases?|declarations?|alegacion(?:es)?|afirmacion(?:es)?|tesis|declaracion(?:es)?|rumor(?:es)?"
    r"|frases?"
    r"|affermazion[ei]|tesi|notizi[ae]|voc[ei]|dichiarazion[ei]|alegac(?:ao|oes)|afirmac(?:ao|oes)|tese"
    r"|noticias?|boatos?)\b|(?:该|此|这一|这种|上述|这些|其)(?:说法|主张|陈述|消息|传言|结论|观点|言论)"
)
_BE = (
    r"(?:is|are|was|were|has been|have been|ist|sind|war|waren|wurde|wurden|est|sont|etait|a ete|ont ete"
    r"|n'est|es|son"
    r"|era|fue|fueron|ha sido|e|sono|fu|era|e stat[oaie]|sao|foi|foram)"
)
_THIS = (
    r"(?:\A\W{0,4}(?:that|das)|\b(?:this|these|those|dies|diese\w?|cela|ceci|ca|c|esto|eso|questo|cio|isto"
    r"|isso))"
)
_BACK_THIS = late_regex(
    rf"{_THIS}(?: (?!if\b|when\b)[^\s.;:,]{{1,20}}){{0,2}}[ '’]{_BE}(?: (?!if\b"
    rf"|when\b)[^\s.;:,]{{1,20}}){{0,4}} "
    rf"(?:{_CUES_OF_REMARK})|{_THIS}(?: (?!if\b|when\b)[^\s.;:,]{{1,20}}){{0,2}} (?:{_NOT_TRUE})"
    rf"|^(?:这|此|该)[^。]{{0,20}}(?:{_CUES_OF_REMARK})"
)
_SUCH = late_regex(
    r"\A\W{0,4}(?:voila|voici|telle est|tel est|so (?:says|goes|runs|sagt)|such is|that is what|ecco|eis"
    r"|asi|das ist|so (?:geht|lautet)"
    rf"|c'est|e questa|essa e|esta e)\b[^.;:]{{0,40}}{_BELIEF}"
)
_NOT_SHOWN = late_regex(
    r"\b(?:data|results?|evidence|records?|tests?|figures|daten|ergebnisse|beweise|unterlagen|donnees"
    r"|resultats"
    r"|preuves|datos|pruebas|resultados|dati|prove|risultati|dados|provas)\b[^.;:]{0,30}\b(?:not|nicht|pas"
    r"|no|non|nao)\b"
    r"(?: [^\s.;:]{1,14}){0,2} ?(?:show|support|confirm|bear (?:this )?out|prove|zeigen|belegen|bestatigen"
    r"|stutzen"
    r"|montrent|confirment|muestran|confirman|mostrano|confermano|mostram|confirmam)"
    r"|\b(?:daten|ergebnisse|beweise)\b (?:zeigen|belegen|bestatigen|stutzen) (?:das|dies) nicht"
    r"|数据[^。]{0,6}不支持"
)
_CONFESSED = late_regex(
    r"\b(?:i (?:made (?:that|this|it) up|invented (?:that|this|it)|was (?:wrong|mistaken)|take (?:that"
    r"|this|it) back"
    r"|stand corrected)|(?:ich habe mich|habe ich mich) (?:geirrt|vertan)|(?:das|es) (?:habe ich"
    r"|war) (?:erfunden|falsch)"
    r"|je me suis trompee?|(?:je l'ai|j'ai(?: tout)?) invente|me equivoque|me lo invente|mi sono sbagliat[oa]"
    r"|me lo sono inventat[oa]|l'ho inventat[oa]|enganei-me|me enganei|inventei)\b|我(?:说错|弄错|记错"
    r"|搞错|编造?)了?"
)
_EACH_THING = (
    r"(?:\b(?:all|every|any|its|the|these|alle|samtliche|die|ihre|seine|tous|toutes|les|ses|tod[oa]s|los"
    r"|las|sus|tutt[ie]"
    r"|i|gli|le|suoi|os|as|seus|suas)\b[^.;:]{0,50}\b(?:persons?|people|characters?|names?|places?|events?"
    r"|values?|facts?"
    r"|figures?|numbers?|data|details|customers?|compan(?:y|ies)|personen|namen|figuren|handlung\w{0,2}"
    r"|werte|angaben"
    r"|zahlen|orte|daten|personnages|personnes|noms|valeurs|faits|chiffres|donnees|personajes|personas"
    r"|nombres|valores"
    r"|hechos|datos|cifras|personaggi|persone|nomi|valori|fatti|dati|cifre|personagens|pessoas|nomes"
    r"|fa[c]?tos|dados"
    r"|numeros)\b|(?:所有|全部|文中|本文|以上|以下|均)[^。；]{0,20})"
)
_ALL_INVENTED = late_regex(
    rf"{_EACH_THING}[^.;:。]{{0,40}}{_INVENTED}|\b(?:everything|alles|tout|todo|tutto"
    rf"|tudo)\b[^.;:]{{0,40}}{_INVENTED}"
    r"|\b(?:resemblance to|ahnlichkeit\w{0,2} mit|ressemblance avec|parecido con|somiglianza con"
    r"|semelhanca com)\b"
    r"[^.;]{0,90}\b(?:coincident\w{0,4}|zufallig\w{0,2}|fortuite|coincidencia|casuale|puramente|purement"
    r"|purely)\b"
    r"|纯属(?:虚构|巧合)"
)
_SPECIMEN = late_regex(
    r"\A\W{0,6}(?:specimen|sample|muster(?:text|brief|vertrag)?|modele|muestra|especime|espec[ie]men"
    r"|fac-?simile|template"
    r"|样本|样张|范本|模板|示例文本)(?:\W{0,6}\Z|\s?(?:-|:|/|\()\W{0,3})"
    r"|\b(?:dummy|placeholder|sample|test) (?:data|text|values)\b|\blorem ipsum\b|\btestdaten\b"
    r"|\bdonnees de test\b"
    r"|\bdatos de prueba\b|\bdati di prova\b|\bdados de teste\b|测试数据"
)
_STORY = late_regex(
    r"\b(?:a|our) (?:novel|short story|satire|parody|spoof|stage play|screenplay)(?=\W{0,3}\Z|[.,;:)]"
    r"| (?:by|in|of|about|from)\b)"
    r"|\b(?:satire|parodie|roman von|kurzgeschichte|(?:un|notre) roman|nouvelle de fiction|novela de"
    r"|cuento de"
    r"|romanzo di|racconto di|satira|conto de)\b|小说|讽刺"
)
_DRILL = late_regex(
    r"\b(?:(?:exercise|drill|training) scenario|scenario (?:of|for) (?:an?|the) (?:exercise|drill)"
    r"|for exercise purposes"
    r"|exercise only|ubungs(?:szenario|lage|fall|annahme)|planspiel|scenario d'exercice|cas d'ecole"
    r"|ejercicio de simulacion|supuesto practico|escenario de simulacro|scenario di esercitazione"
    r"|cenario de (?:exercicio|simulacro)|exercicio de simulacao)\b|演习(?:脚本|情景|场景|想定)"
    r"|模拟(?:场景|案例|情景)|假设情景"
)
_DRAFT_REFUSED = late_regex(
    r"\b(?:drafts?|bill|proposals?|motion|entwurf|antrag|vorschlag|vorlage|projet|proposition|proyecto"
    r"|propuesta"
    r"|borrador|progetto|proposta|bozza|disegno di legge|projeto|minuta)\b|草案|提案|议案|稿"
)
_NOT_PASSED = late_regex(rf"{_REFUSED}|{_NOT_TRUE}|{_REPEALED}")
_RETRACTION = late_regex(
    r"\b(?:retracted|retraction(?: notice)?|retractation|ritrattazione|retratacao)\b|撤稿"
)
_TURN = late_regex(
    r"\A\W{0,4}(?:since|from \d|today|now|nowadays|in (?:fact|reality|truth)|actually|but|however|heute"
    r"|seit|nun|jetzt"
    r"|tatsachlich|in wahrheit|richtig ist|depuis|aujourd'hui|en (?:realite|fait|verite)|mais|desde|hoy|ahora"
    r"|en realidad|pero|dal|oggi|ora|in realta|ma|hoje|agora|na verdade|mas|otherwise|sonst|andernfalls"
    r"|sinon|autrement|de lo contrario|altrimenti|caso contrario|自(?=[\d今即])|现在|现行|否则|实际上"
    r"|事实上|其实|目前)"
)
_ENDS_LEAD = late_regex(r":[\s*_\"'”»)]{0,4}\Z")


def plain(text: str) -> str:
    """A sentence as it is compared here."""
    return unmarked(folded(text[:LIMIT]))


def is_lead(text: str) -> bool:
    """Whether a `plain` sentence leads into what stands below it."""
    return _ENDS_LEAD.search(text) is not None or _FORWARD.search(text) is not None


def is_of_many(text: str) -> bool:
    """Whether a `plain` sentence speaks of more than one thing."""
    return _MANY.search(text) is not None


def leads_with_colon(text: str) -> bool:
    """Whether a `plain` line ends with a colon."""
    return _ENDS_LEAD.search(text) is not None


def disowns_below(text: str, language: str = "", *, heading: bool = False) -> bool:
    """Whether a `plain` sentence leads into lines that it calls untrue, gives to somebody else, refuses, or
    limits to another time or to a condition. A heading, or a line that stands right over a list, may say
    "none of these" for "the following"."""
    colon = _ENDS_LEAD.search(text) is not None
    points = _FORWARD.search(text) is not None
    these = heading and _OF_THESE.search(text) is not None
    if not (colon or points or these):
        return False
    if _stands(_CUE if points or these else _CUE_OF_LEAD, text):
        return True
    if _DISBELIEF.search(text) is not None:
        return True
    if not colon:
        return False
    by_party = _BY_PARTY.search(text) is not None and _COURT.search(text) is None
    return (
        by_party
        or _ALLEGED.search(text) is not None
        or _EXPECTED.fullmatch(text) is not None
        or (_is_label(text) and _stands(_NOT_PASSED, text))
        or is_of_the_past(text)
        or has_condition(text, language)
    )


def disowns_beside(label: str) -> bool:
    """Whether a `plain` label with its colon calls what it stands before untrue or another's word."""
    return (
        (_is_label(label) and (_stands(_CUE, label) or _EXPECTED.fullmatch(label) is not None))
        or (_BY_PARTY.search(label) is not None and _COURT.search(label) is None)
        or _ALLEGED.search(label) is not None
        or _stands(_REFUSED_MARK, label)
    )


def is_of_the_past(text: str) -> bool:
    """Whether a `plain` lead limits what follows to a time that ended, or calls it an older wording."""
    if _DUE.search(text) is not None:
        return False
    return _UNTIL.search(text) is not None or _FORMERLY.search(text) is not None


def has_condition(text: str, language: str) -> bool:
    """Whether a `plain` lead sets what follows under a condition."""
    own = _IF.get(language)
    return _ON_CONDITION.search(text) is not None or (own is not None and own.match(text) is not None)


def disowns_above(text: str, *, near: bool = False) -> bool:
    """Whether a `plain` sentence takes back what stands above it, by pointing there: "all of the above is …",
    "this claim is …"; `near`, of the sentence right behind, also with no more than "this is …"."""
    if _CONFESSED.search(text) is not None or _VERDICT.match(text) is not None:
        return True
    pointed = _BACK_ALL.search(text) is not None or _BACK_NOUN.search(text) is not None
    if pointed and _stands(_CUE_OF_REMARK, text):
        return True
    if not near:
        return False
    if _SUCH.match(text) is not None or _NOT_SHOWN.search(text) is not None:
        return True
    return any(_stands(_CUE_OF_REMARK, text[: found.end()]) for found in [_BACK_THIS.search(text)] if found)


def closes_over(text: str) -> bool:
    """Whether a `plain` sentence among the last of a document takes all of it back."""
    pointed = _BACK_ALL.search(text) is not None
    return (pointed and _stands(_CUE, text)) or is_all_invented(text)


def is_all_invented(text: str) -> bool:
    """Whether a `plain` sentence says that all names, values or events of its text are invented."""
    return _stands(_ALL_INVENTED, text)


def opens_apart(text: str) -> bool:
    """Whether a `plain` line at the beginning of a document says that the whole of it is a specimen, a story,
    a drill, a draft that was refused, or retracted."""
    return (
        is_all_invented(text)
        or any(one.search(text) is not None for one in (_SPECIMEN, _STORY, _DRILL, _RETRACTION))
        or (_DRAFT_REFUSED.search(text) is not None and _stands(_NOT_PASSED, text))
        or is_quiz(text)
    )


def is_quiz(text: str) -> bool:
    """Whether a `plain` line asks which of the lines below are true."""
    return _QUIZ.search(text) is not None


def is_key(text: str) -> bool:
    """Whether a `plain` line is the key of such questions, and calls one of them false."""
    return _KEY.match(text) is not None


def turns(text: str) -> bool:
    """Whether a `plain` line turns to what is so now or in truth, and so no longer belongs to a lead."""
    return _TURN.match(text) is not None


def _is_label(text: str) -> bool:
    return len(text.split()) <= 6


def _stands(pattern: "re.Pattern[str]", text: str) -> bool:
    """Whether a cue is there that no word before it denies."""
    return any(
        _DENIED.search(text[max(0, one.start() - 40) : one.start()]) is None for one in pattern.finditer(text)
    )
