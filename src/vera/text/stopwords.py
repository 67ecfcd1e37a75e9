"""Words that ask or join and carry no subject, by language: data, to be extended by hand.

In a small collection a question's own words ("how many") can be rarer than its subject, so frequency
alone does not find them out. Words that deny or oblige (not, must, shall) are subject matter and are left
out on purpose.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = _words(
    """
    a about all also am an and any are as at be because been being but by can could did do does doing done
    for from get give gives had has have having he her here hers him his how i if in into is it its let me
    mean means many much my of on or our ours please she should so some such tell than that the their
    theirs them then there these they this those to too under us was we were what whatever when where whether
    which while who whom whose why will with would you your yours say says according
    """
)
GERMAN = _words(
    """
    aber als am an auch auf aus bei bis da damit das dass dem den denn der des die dies diese dieser dieses
    doch du durch ein eine einem einen einer eines er es für gibt habe haben hat hatte ich ihr im in ist
    kann können man mit nach noch nur ob oder sein sich sie sind so über um und uns unter viele
    vielen vom von vor gegen innerhalb wann war waren warum was welche welchem welchen welcher welches wenn
    wem wen wer werden weshalb wessen wie wieso wird wo wodurch wofür woher wohin womit woran worauf woraus
    worden worin worüber wovon wozu wurde wurden zu
    zum zur
    """
)
FRENCH = _words(
    """
    a ai au aux avec ce ces cette combien comme comment dans de des dont du elle en est et eu il ils je la
    le les leur lui ma mais me mes mon même ne nos notre nous on ont où ou par pas pour pourquoi qu quand
    que quel quelle quelles quels qui quoi sa se ses si son sont sur t ta te tes toi ton tu un une vos votre
    vous y à été être
    """
)
SPANISH = _words(
    """
    a al algo como con cual cuales cuando cuanto cuantos cuál cuáles cuándo cuánto cuántos cómo de del
    desde donde dónde el ella ellas ellos en entre era es esa ese eso esta este esto está están fue ha hay
    la las le les lo los me mi mis muy más nos o para pero por porque qué que quien quién se ser si sin
    sobre son su sus también te tiene tu un una unas uno unos y ya yo
    """
)
ITALIAN = _words(
    """
    a ad ai al alla alle anche c che chi ci come con cosa così cui da dal dalla dei del della delle di dove e
    ed era essere fa gli ha hanno ho i il in io la le lo loro ma mi nel nella no noi o per perché perche più
    può qual quale quali quando quanta quante quanti quanto questa questo se si sia sono su sua sul suo tra tu
    un una uno è
    """
)
PORTUGUESE = _words(
    """
    a ao aos as com como da das de do dos e ela ele eles em entre era essa esse esta este eu foi há isso isto
    mais mas me meu minha na nas no nos o onde os ou para pela pelo por porque porquê qual quais quando quanta
    quantas quanto quantos que quem se sem ser seu sobre sua são também te tem um uma você à às é
    """
)
LANGUAGES = (ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN, PORTUGUESE)


def stop_words(words: list[str]) -> frozenset[str]:
    """The list of the language to which most of these (lower case) words belong; English if none leads.

    One list at a time, since a word that joins in one language (`die`, `war`, `son`) means something in
    another.
    """
    return max(LANGUAGES, key=lambda language: sum(word in language for word in words))
