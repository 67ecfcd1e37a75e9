"""The turns of phrase by which a question shows what it asks, in English, German, French and Spanish.

The patterns are bounded and for text in lower case without diacritics (`vera.text.words.unmarked`); those
whose names begin with OTHER are for other scripts, in lower case as written.
"""

from vera.text.late_regex import late_regex

YES_NO = late_regex(
    r"(?:(?:is|are|was|were|has|have|had|do|does|did|can|could|will|would|shall|should|must)(?:n[' ]?t)?"
    # German: the verb comes first.
    r"|gibt es|gab es|hat|haben|hatte|hatten|ist|sind|war|waren|wurden?|wird|kann|darf|existier(?:t|en)"
    r"|stimmt es"
    # French: est-ce que, or the subject after the verb.
    r"|est-ce qu[e']|y a-t-il|y avait-il|existe-t-il"
    r"|(?:a|ont|est|sont|fut|etait)-(?:t-)?(?:il|elle|on|ils|elles|ce)"
    # Spanish and its opening mark.
    r"|¿ ?(?:es|son|esta|estan|fue|fueron|era|ha|han|hay|habia|hubo|existen?|puede|tiene|alguien|alguna vez)"
    r")\b"
)
"""The opening of a question that is answered by yes or no."""

FOR_A_VALUE = late_regex(
    r"(?:(?:in|to|from|by|for|at|on|with|of|until|since|under|about) (?:which|what|whom|whose|how)"
    r"|who|whom|whose|what|when|where|why|how|which|who's|what's|where's|when's|how's"
    r"|wer|wem|wen|was|wann|wo|woher|wohin|wie|wieso|warum|weshalb|wieviele?|welche[rsnm]?"
    r"|qui|que|quoi|qu'est-ce qu[ei']|quels?|quelles?|quand|ou|comment|pourquoi|combien"
    r"|¿ ?(?:quien(?:es)?|que|cuando|donde|como|por que|cual(?:es)?|cuant[oa]s?))\b"
)
"""The opening of a question that is answered by a name, a number, a time, a reason, a way."""

EXISTENCE = late_regex(
    r"(?:is|are|was|were|has|have|had)(?:n[' ]?t)? there\b"
    r"|(?:does|do|did) (?:there )?[^?]{0,120}?\bexist(?:ed)?\b"
    r"|there (?:is|are|was|were|exists?|has been|have been)\b"
    r"|(?:gibt|gab) es\b|existier(?:t|en)\b|ob es\b|y a-t-il\b|y avait-il\b|existe-t-il\b"
    r"|est-ce qu(?:'il y a|'il existe)\b|¿ ?(?:hay|habia|hubo|existen?)\b"
)
"""Asks whether there is something at all."""

HOW = late_regex(r"how (?:do|can|could|should|would|to)\b")
"""Asks how something is done, also how it is found out whether …"""

A_WAY = late_regex(
    r"there (?:(?:an?|any|some|another|other) )?(?:\w{1,20} ){0,2}(?:ways?|methods?|tricks?|tools?|commands?"
    r"|differences?|reasons?|need|point|chance|shortcuts?|possibility)\b"
    r"|gibt es (?:ein\w{0,3} )?(?:\w{1,20} ){0,2}(?:weg|moglichkeit|unterschied|grund)\b"
)
"""Asks for a way to do something, in the words of a question whether there is one."""

SO_FAR = late_regex(
    r"\byet\b(?! (?:another|more|again|to))|\balready\b|\b(?:so|thus) far\b|\bto date\b"
    r"|\b(?:until|up to|till) now\b"
    r"|\bbereits\b|\bschon\b|\bbisher\b|\bbislang\b|\bdeja\b|\ba ce jour\b|\bhasta (?:ahora|la fecha)\b"
    r"|¿ ?(?:ya\b|[^?]{1,200} ya\b)|¿ ?ha[^?]{0,200}\b(?:ya|todavia|aun)\b"
)
"""Asks whether something has happened until now."""

EVER = late_regex(
    r"\bever\b(?! since)|\bat any (?:time|point|stage)\b|\bjemals\b|\bje\b(?= \w+(?:t|en)\b)|\bjamais\b"
    r"|\balguna vez\b|\bjamas\b"
)
"""Asks whether something has happened at any time."""

SUPERLATIVE = late_regex(
    r"\b(?:\w{2,20}est|most|least|best|worst|first|last|only|greatest)\b[^?]{0,80}\bever\b|\bfirst[- ]ever\b"
)
"""An "ever" that belongs to a superlative: "the tallest building ever built"."""

ANY = late_regex(
    r"\bany(?:one|body|thing|where)?\b(?! (?:case|way|rate|event|idea|doubt|questions?)\b)"
    r"|\bat all(?= ?(?:[?.!,;]|$))"
    r"|\b(?:still|currently) (?:alive|extant|in existence)\b|\bsome(?:one|body) (?:ever|else)\b"
    r"|\birgend(?:ein\w{0,3}|jemand|etwas|welche\w?|wo)?\b|\buberhaupt\b|\bquelqu'un\b|\bquelque chose\b"
    r"|\b(?:algun|alguna|algunos|algunas|alguien|algo)\b"
)
"""Asks of a whole domain: whether any of it is so."""

IF_ANY = late_regex(r"\bif (?:any(?:one|body|thing|where)?|at all|ever)\b|\bor none\b|\bfalls uberhaupt\b")
"""Says of a question for a value that there may be none."""

IS_THE_ONLY = late_regex(
    r"^(?:who|what|which(?: [\w'-]{1,40}){0,6}?)"
    r"(?:'s| (?:is|are|was|were|became|remains|has been|have been))"
    r" (?:the|its|their|his|her|our) (?:\w{1,20} )?"
    r"(?:only|sole|one and only|last (?:remaining|surviving|living))\b"
    r"|^(?:wer|was|welche[rsnm]?)(?: [\w'-]{1,40}){0,5}? (?:ist|sind|war|waren)"
    r" (?:der|die|das) (?:einzig\w{1,3})\b"
    r"|^(?:qui|quels?|quelles?)(?: [\w'-]{1,40}){0,5}? (?:est|sont|etait|fut)"
    r" (?:la |le |les |l')(?:seule?s?|unique)\b"
    r"|^¿ ?(?:quien|cual|que)(?:es)?(?: [\w'-]{1,40}){0,5}? (?:es|son|fue|era)"
    r" (?:el|la|los|las) (?:unic[oa]s?)\b"
)
"""Asks for the one thing of its kind."""

ONLY = late_regex(
    r"\b(?:the|its|their|his|her) (?:only|sole|one and only)\b|\b(?:der|die|das) einzig\w{1,3}\b"
    r"|\b(?:la |le |l')(?:seule?|unique)\b|\b(?:el|la) unic[oa]\b"
)
"""Says within a question for yes or no that there is one alone."""

ASKS_WHAT_IS_NOT = late_regex(
    r"^(?:who|whom|what|which|whose|where)(?! (?:percentage|share|proportion|fraction|number|amount)\b)"
    r"(?: (?!(?:that|who|which|if|because|when|while|to|following)\b)[\w'-]{1,40}){0,7}?"
    r" (?:never\b|lacks?\b|(?:has|have|had|is|are|was|were|did|does|do|can|will)"
    r"(?:n[' ]?t| (?:not|never|no|nothing|yet to|nobody))\b(?!-))"
    r"|^(?:who|what|which) (?:has|have|had|is|are|was|were|did|does|do)n[' ]?t\b"
    r"|^welche[rsnm]?(?: [\w'-]{1,40}){1,8}? (?:nicht|nie|niemals|kein\w{0,2})\b"
    r"|^(?:qui|quels?|quelles?)(?: [\w'-]{1,40}){0,6}? n'?(?:e )?(?:a|ont|est|sont)"
    r"(?: [\w'-]{1,40}){0,2}? (?:pas|jamais)\b"
    r"|^¿ ?(?:que|quien(?:es)?|cual(?:es)?)(?: [\w'-]{1,40}){0,4}? (?:no|nunca)"
    r" (?:ha|han|es|son|fue|tiene|tienen)\b"
)
"""Asks for those of which something is not so: the answer denies of each."""

ONE_OF_A_LIST = late_regex(
    r"^which(?: one)? of (?:the following\b|these (?:is|are|has|have|does|do|can|was|were)\b)"
)
"""Offers the answers to choose from."""

MODAL = late_regex(r"(?:can|could|will|would|shall|should|must|kann|darf|wird|¿ ?puede)(?:n[' ]?t)?\b")
"""Asks what is possible, allowed or to come; no search shows that it is not so."""

_REQUEST_VERBS = (
    r"(?:tell|list|give|show|explain|find|help|name|summari[sz]e|describe|write|check|verify|confirm|look"
    r"|point|recommend|suggest|provide|compare|say|determine|identify|know|happen to know|have any idea|make"
    r"|search|see)"
)
REQUEST = late_regex(
    r"(?:(?:can|could|would|will|do|did|have)(?:n't)? (?:you|we|i|someone|somebody|anyone|anybody)"
    rf" (?:please |kindly |also |perhaps |maybe )?{_REQUEST_VERBS}\b|do you (?:want|need|have)\b"
    r"|konn(?:en|ten) sie|kannst du|pouvez-vous|peux-tu|¿ ?puedes|¿ ?podrias?)"
)
"""A polite order, in the words of a question for yes or no."""

CLAUSE = late_regex(
    r"\b(?:find(?:ing)? out|check|determine|verify|confirm|establish|investigate|tell (?:me|us)|know|see"
    r"|look up|decide|ask|research|examine|wonder(?:ing)?|assess|answer|report|state|figure out|clarify"
    r"|explore|question|sagen|prufen|prufe|herausfinden|finde heraus|wissen|klaren|savoir|verifie[rz]?"
    r"|dis-moi|comprueba|averigua)\b"
    r"(?: [^\s.?!]{1,40}){0,2}? (?:whether|if|ob|si)\b"
    r"(?! (?:you|necessary|possible|needed|available|es moglich"
    r"|there are any (?:questions|problems|issues|doubts))\b)(?: or not\b)?"
    r"|(?<!regardless of )(?<!depending on )(?<!no matter )\bwhether\b(?: or not\b)?|^ob\b"
)
"""What leads up to a question inside an order: "find out whether …"."""

THAT = late_regex(
    r"\b(?:verify|confirm|prove|show|check|establish|demonstrate|true|conclude|the claim|the statement"
    r"|beweise|bestatige)(?: [^\s.?!]{1,40})? ?(?:that\b|:|, dass\b)"
    r"|^true or false ?[:,-]|^fact[- ]check ?[:,-]"
)
"""What leads up to a statement that is to be judged."""

JUDGES_THE_LAST = late_regex(
    r"(?:is|was) (?:that|this|it)(?: \w{1,20})?(?: (?:true|correct|right|so|accurate|false))"
    r"(?: or (?:not|false|wrong))? ?\?|(?:true|right|correct|true or false) ?\?"
    r"|stimmt das ?\?|est-ce vrai ?\?|¿ ?es (?:verdad|cierto) ?\?"
)
"""Asks whether the sentence before is true."""

OTHER_EXISTENCE = late_regex(
    r"有没有|有沒有|是否存在|есть ли|существу[ею]т ли|هل يوجد|هل هناك|ありますか|있나요|있습니까"
)
"""Asks in another script whether there is something."""

OTHER_SO_FAR = late_regex(
    r"了没有|了沒有|了没[？?]|(?:已经|已經|是否)[^？?]{0,100}(?:吗|嗎|了|过|過)|もう[^？?]{0,100}(?:ましたか|た[？?])"
    r"|\bуже\b|когда-?(?:нибудь|либо)|벌써|이미"
)
"""Asks in another script whether something has happened until now, or ever."""

OTHER_VALUE = late_regex(
    r"什么|甚麼|什麼|谁|誰|哪|几|多[少高大长長远遠久重深]|怎么|怎麼|如何|为什么|為什麼|何時|いつ|どこ|何|だれ|どう|なぜ|いくら"
    r"|누구|무엇|언제|어디|왜|어떻게|몇"
    r"|\b(?:кто|что|когда|где|как|почему|сколько|какой|какая|какие|какое)\b"
    r"|\b(?:من|ما|متى|أين|كيف|لماذا|كم)\b"
)
"""Asks in another script for a value."""
