"""Words that carry no topic, by language; they also tell which language a text in Latin script is written in."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Contractions stand here without their apostrophe, as the analysis writes them.
ENGLISH = _words(
    """
    a about above across actually after again against ago ain all almost along already also although always am among an
    and another any anybody anyone anything anyway anywhere are aren arent around as at away back be became because
    become been before began begin being below between both but by came can cannot cant come could couldn couldnt did
    didn didnt do does doesn doesnt doing don done dont down during each either else even ever every everybody everyone
    everything few for from further gave get gets getting give given go goes going gone gonna got gotten had hadn hadnt
    has hasn hasnt have haven havent having he hed hell her here heres hers herself hes hey hi him himself his how hows
    however i id if ill im in into is isn isnt it itd itll its itself ive just kind knew know let lets like likely ll
    lot lots made make makes many may maybe me might mightn more most much must mustn my myself near need needn neither
    never no nobody none nor not nothing now of off oh ok okay often on once one ones only onto or other others ought
    our ours ourselves out over own perhaps please put quite rather re really right said same say saying says see
    seem seemed seems shall shan shant she shed shell shes should shouldn shouldnt since so some somebody someone
    something sometimes somewhere soon still such sure take tell than thank thanks that thats the their theirs them
    themselves then there theres these they theyd theyll theyre theyve thing things this those though through thus till
    to together told too took toward towards two under until up upon us use used using usually ve very want wanted
    wants was wasn wasnt way we wed well went were weren werent weve what whatever whats when whenever whens where
    wheres whereas whether which while who whoever whole whom whos whose why will with within without won wont would
    wouldn wouldnt yeah yes yet you youd youll your youre yours yourself yourselves youve
    """
)

# Asked in a question, they say what kind of answer is wanted and not what it is about.
QUESTION = _words(
    """
    able answer ask asked asking brief briefly bring brought call called conversation conversations describe detail
    details different discuss discussed discussion explain find give happen happened help information kinds list look
    looking mention mentioned mentions name names number order planned previous previously provide question recall
    remember remind share shared show showed someone sort specific specifically suggest suggested talk talked talking
    tell think thought time times total try trying type types various
    """
)

# Characters and pairs of Chinese and Japanese that a question is asked with.
UNSPACED = _words(
    """
    的 了 吗 呢 吧 啊 是 我 你 您 他 她 它 们 在 有 和 与 就 不 都 也 很 到 要 会 着 没 这 那 哪 什 么 怎 谁 几
    里 个 把 被 给 让 过 还 又 及 或 而 所 以 为 对 从 向 於 之 其 我的 你的 他的 她的 我们 你们 他们 是什 什么
    怎么 么样 哪里 哪儿 哪个 多少 为什 时候 么时 有没 没有 是不 不是 请问 知道 可以 告诉 诉我 一个 这个 那个
    在哪 过什 了什 は が を に で と の も へ や か ね よ し た て い る な す ま く です ます した して いる
    ある こと もの これ それ どこ なに いつ だれ どう ました ですか ますか たか るか
    """
)

# The same in other languages, with what asks after anything that was done or happened, written without accents.
QUESTION_ABROAD = _words(
    """
    abbiamo aconteceu acontece avete avevamo avons avez cosa cuando cuanto cuantos desde donde est etions
    faisais faisait faisons fait faites fatto fatte feci fiz fizemos fez gab gebeurd gebeurde gebeurt gedaan
    gemacht geschah geschehen gibt gehabt gewesen haben hace haceis hacia hatte hatten hemos habe habia hice
    hicimos hicieron hiciste hizo hanno hebben machen machte machten ocurrio passe passiert passierte passa
    passou pasa paso quando quante quanti quantos que quel quelle quem quoi succede successo tun unternommen
    waar waarom wann wanneer warum waren wat welche welcher welches welk welke wer wie wieviel wieviele
    """
)

# Chinese and Japanese words that only ask or point: what stands before and behind them are words of their own.
ASKING = _words(
    """
    的 了 吗 呢 吧 嘛 是 我 你 您 他 她 它 我们 你们 他们 她们 什么 怎么 怎么样 为什么 哪里 哪儿 哪个 哪些 哪位 哪家
    哪年 哪天 谁 多少 几个 几位 请问 告诉我 知道 记得 这个 那个 这 那 有没有 是不是 在 请 帮我
    做了什么 干了什么 做什么了 干什么了 什么事 什么事情 发生了什么 发生 去了哪里 去了哪 去哪了 去哪 做过什么
    何 誰 どこ いつ だれ なに どんな
    """
)

OTHERS: dict[str, frozenset[str]] = {
    "german": _words(
        """
        aber als am an auch auf aus bei bin bis bist da damit dann das dass dein deine dem den denn der des dich die dir
        doch du ein eine einem einen einer eines er es euch für habe haben hast hat hatte hier ich ihm ihn ihr ihre im
        in ist ja jetzt kann kannst kein keine können machen mal man mein meine meinem meinen meiner mich mir mit muss
        nach nicht noch nun nur oder schon sehr sein seine seit sich sie sind so über um und uns unser vom von vor war
        waren warum was weil wenn wer werden wie wieder will wir wird wo wollen wurde zu zum zur
        """
    ),
    "french": _words(
        """
        ai as au aussi avec avez avoir avons bien c ce cela ces cet cette comme d dans de des du elle elles en es est et
        été être eu fait il ils j je l la le les leur leurs lui m ma mais me mes moi mon n ne nos notre nous on ont ou
        où par pas peu plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses si son sont
        suis sur t ta te tes toi ton tous tout très tu un une vos votre vous y
        """
    ),
    "spanish": _words(
        """
        a al algo ante así aunque como con cual cuál cuando cuándo de del desde donde dónde el él ella ellos en entre
        era es esa ese eso esta está están este esto estos estoy fue ha había hace hacer han hasta hay he la las le les
        lo los más me mi mis muy nada ni no nos o para pero por porque qué que quién se sea ser si sí sin sobre son soy
        su sus también te tengo ti tiene todo tu tus un una uno unos y ya yo
        """
    ),
    "italian": _words(
        """
        a ai al alla anche che chi ci come con cosa da dal dalla de del della delle dei di dove due e è ed era essere fa
        gli ha hai hanno ho i il in io la le lei lo loro lui ma mi mia mio molto ne nel nella no noi non o per perché
        però più può quale quando quello questa questo qui se sei si sì sia sono sta sul sulla suo sua ti tra tu tuo un
        una uno vi voi
        """
    ),
    "portuguese": _words(
        """
        a ao as às até com como da das de dela dele do dos e é ela ele eles em entre era essa esse esta está este eu foi
        há isso isto já lhe mais mas me meu meus minha muito na não nas nem no nos nós num o onde os ou para pela pelo
        por porque qual quando que quem se sem ser seu só sua são também te tem tenho ter tu um uma você vocês
        """
    ),
    "dutch": _words(
        """
        aan al als bij dan dat de deze die dit door een en er geen had heb hebben heeft hem het hier hij hoe hun ik in
        is je jij jouw kan kunnen maar me meer met mij mijn moet na naar niet nog nu of om onder ons ook op over te tot
        u uit van veel voor waar waarom was wat we wel werd wie wij wil worden zal ze zei zelf zich zij zijn zo zou
        """
    ),
    "swedish": _words(
        """
        alla att av blev bli de dem den det detta dig din du där då efter ej eller en er ett från för ha hade han har
        hon hur här i inte jag kan kommer man med men mig min mitt mycket ni nu när och också om på sig sin ska som så
        till under upp ut vad var vara vi vid vill är över
        """
    ),
    "norwegian": _words(
        """
        alle at av ble bli da de deg dem den denne der det din du eller en er et etter for fra før ha hadde han har hun
        hva hvem hvor hvordan i ikke jeg kan kommer man med meg men min mitt mye ned noe nå når og også om opp oss over
        på seg sin skal som så til under ut var vi vil være å
        """
    ),
    "danish": _words(
        """
        af alle at blev blive da de dem den denne der det dig din du efter eller en er et for fra før har havde have
        hun hvad hvem hvor hvordan i ikke jeg kan kommer man med meget men mig min mit ned noget nu når og også om op
        os over på sig sin skal som så til ud under var vi vil være
        """
    ),
    "finnish": _words(
        """
        ei eivät en ett että he hän ja jo joka jos kanssa kuin kun kuka me mikä mitä minä minun minulla missä mutta myös
        ne nyt oli olen olet on ovat se sen siis sinä sitten tai te tämä vain voi
        """
    ),
    "polish": _words(
        """
        ale ani bardzo bez był była było być ci co czy dla do gdy gdzie go i ich ja jak jaki jako jest jestem już kiedy
        kto która które który ma mam mi mnie mój na nad nam nas nie nim niż o od on ona oni po pod ponieważ przez przy
        są się tak także tam tego ten to tu ty tylko w we więc z za ze że
        """
    ),
    "turkish": _words(
        """
        ama ancak bana ben benim bir biz bu bunu çok da daha de değil diye en gibi hem her için ile ise kadar ki kim
        mi mı mu mü nasıl ne neden nerede o olan olarak onu sen senin siz şey şu var ve veya ya yok
        """
    ),
    "romanian": _words(
        """
        a acest această ai al ale am ar are ași au ca care ce cel cine cu cum când de din după e ea el ei este eu eu fi
        fost iar în îmi la lor lui mai mea meu mi nu o pe pentru prin sa sau se si sunt să te tu un una unde va și
        """
    ),
    "indonesian": _words(
        """
        ada adalah aku akan anda apa atau bagaimana bisa dalam dan dari dengan di dia di ini itu juga kami kamu karena
        ke kita lebih mereka oleh pada saya sebagai sudah tidak untuk yang
        """
    ),
}
