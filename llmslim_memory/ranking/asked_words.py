"""Words for times of the languages that a question's time is read in: numbers, units, weekdays, seasons."""

from __future__ import annotations

from llmslim_memory.ranking.dates import number


def words(text: str) -> frozenset[str]:
    """The words of a list written as text."""
    return frozenset(text.split())


def _numbered(*rows: str, start: int = 0) -> dict[str, int]:
    return {word: at for at, row in enumerate(rows, start) for word in row.split()}


# English, German, French, Spanish, Italian, Portuguese, Dutch, Korean; Chinese numbers are signs.
_NUMBERS = _numbered(
    "a an one ein eine einem einer einen un une una uno um uma een één 한 하루",
    "two couple zwei deux dos due dois duas twee 두 이틀",
    "three few drei trois tres tre três drie 세 사흘",
    "four vier quatre cuatro quattro quatro 네 나흘",
    "five fünf cinq cinco cinque vijf 다섯",
    "six sechs seis sei zes 여섯",
    "seven sieben sept siete sette sete zeven 일곱",
    "eight acht huit ocho otto oito 여덟",
    "nine neun neuf nueve nove negen 아홉",
    "ten zehn dix diez dieci dez tien 열",
    "eleven elf onze undici",
    "twelve zwölf douze doce dodici doze twaalf",
    start=1,
)
_UNITS = {
    word: unit
    for unit, words in {
        "day": "day days tag tage tagen jour jours día días dia dias giorno giorni dag dagen 天 日 号 일",
        "week": "week weeks woche wochen semaine semaines semana semanas settimana settimane weken"
        " 周 星期 礼拜 週間 주 주일",
        "month": "month months monat monate monaten mois mes meses mese mesi mês maand maanden"
        " 月 个月 個月 か月 ヶ月 カ月 ケ月 ヵ月 달 개월",
        "quarter": "quarter quarters quartal trimestre 季度",
        "year": "year years jahr jahre jahren an ans année années año años anno anni ano anos jaar jaren 年 년 해",
    }.items()
    for word in words.split()
}
_WEEKDAYS = _numbered(
    "monday montag lundi lunes lunedì lunedi segunda segunda-feira maandag 一 月曜 월요일",
    "tuesday dienstag mardi martes martedì martedi terça terça-feira dinsdag 二 火曜 화요일",
    "wednesday mittwoch mercredi miércoles miercoles mercoledì mercoledi quarta quarta-feira woensdag 三 水曜 수요일",
    "thursday donnerstag jeudi jueves giovedì giovedi quinta quinta-feira donderdag 四 木曜 목요일",
    "friday freitag vendredi viernes venerdì venerdi sexta sexta-feira vrijdag 五 金曜 금요일",
    "saturday samstag sonnabend samedi sábado sabado sabato zaterdag 六 土曜 토요일",
    "sunday sonntag dimanche domingo domenica zondag 日 天 日曜 일요일",
)
_SEASONS = {
    word: season
    for season, words in {
        "spring": "spring frühling frühjahr printemps primavera lente voorjaar 春天 春季 春 봄",
        "summer": "summer sommer été verano estate verão zomer 夏天 夏季 夏 여름",
        "autumn": "autumn fall herbst automne otoño autunno outono herfst najaar 秋天 秋季 秋 가을",
        "winter": "winter hiver invierno inverno 冬天 冬季 冬 겨울",
    }.items()
    for word in words.split()
}


SEASONS = frozenset(_SEASONS)


def _group(name: str, words: dict[str, int] | dict[str, str]) -> str:
    return f"(?P<{name}>" + "|".join(sorted(words, key=len, reverse=True)) + ")"


COUNTS = r"\d{1,4}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True))
COUNT = rf"(?P<count>{COUNTS})(?:\s+of)?"
HAN_COUNT = r"(?P<count>\d{1,4}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九半])"
UNIT, WEEKDAY, SEASON = _group("unit", _UNITS), _group("weekday", _WEEKDAYS), _group("season", _SEASONS)


def count_of(text: str) -> int:
    """The number that a word or signs stand for."""
    return _NUMBERS.get(text.lower()) or number(text)


def unit_of(text: str) -> str:
    """The unit of time that a word means."""
    return _UNITS[text.lower()]


def weekday_of(text: str) -> int:
    """The number of a weekday, Monday is 0."""
    return _WEEKDAYS[text.lower()]


def season_of(text: str) -> str:
    """The season that a word means, in English."""
    return _SEASONS[text.lower()]
