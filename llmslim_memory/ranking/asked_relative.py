"""Times that a question names by their distance from now, in the languages of Europe and East Asia that are read."""

from __future__ import annotations

import re
from datetime import date

from llmslim_memory.ranking import stretches
from llmslim_memory.ranking.asked_words import (
    COUNT,
    HAN_COUNT,
    SEASON,
    UNIT,
    WEEKDAY,
    count_of,
    season_of,
    unit_of,
    weekday_of,
    words,
)
from llmslim_memory.ranking.dates import HAN_MONTH, MONTH, month_number, pattern
from llmslim_memory.ranking.stretches import Reader, Stretch

_FRENCH = re.compile(
    r"\b(?:je|j['’]\w+|tu|nous|vous|on|ai|as|est|était|qu['’]\w+|que|quoi|quel(?:le)?s?|où|les?|des|du)\b",
    re.IGNORECASE,
)
_THIS = words(
    """
    this diese diesen dieses dieser diesem cette cet ce esta este questa questo quest' nesta neste deze dit
    这 本 今 이번
    """
)
_YEARS_BACK = {
    word: back
    for back, forms in enumerate(("今年 本年 올해", "去年 昨年 작년 지난해", "前年 一昨年 재작년"))
    for word in forms.split()
}


def _days_back(back: int) -> Reader:
    return lambda _, today: Stretch(*stretches.span_of("day", today, back), relative=True)


def _units_back(unit: str, back: int) -> Reader:
    return lambda _, today: Stretch(*stretches.span_of(unit, today, back), relative=True)


def _hier(match: re.Match[str], today: date) -> Stretch:
    """French for yesterday; German and Dutch for here."""
    if not _FRENCH.search(match.string):
        raise ValueError("not French")
    return _days_back(1)(match, today)


def _is_this(match: re.Match[str]) -> bool:
    return (match.groupdict().get("which") or "").lower() in _THIS


def _ago(match: re.Match[str], today: date) -> Stretch:
    return stretches.ago(*_counted(match), today)


def _lately(match: re.Match[str], today: date) -> Stretch:
    return stretches.lately(*_counted(match), today)


def _counted(match: re.Match[str]) -> tuple[int, str]:
    unit = unit_of(match["unit"])
    if match["count"] == "半":
        return {"year": (6, "month"), "month": (2, "week")}[unit]
    return count_of(match["count"]), unit


def _last_unit(match: re.Match[str], today: date) -> Stretch:
    return Stretch(*stretches.span_of(unit_of(match["unit"]), today, 0 if _is_this(match) else 1), relative=True)


def _weekend(match: re.Match[str], today: date) -> Stretch:
    return stretches.weekend(today, this=_is_this(match))


def _weekday(match: re.Match[str], today: date) -> Stretch:
    return stretches.weekday(weekday_of(match["weekday"]), today)


def _weekday_of_week(match: re.Match[str], today: date) -> Stretch:
    weeks = 0 if _is_this(match) else 1 + match["which"].count("上上")
    return stretches.weekday(weekday_of(match["weekday"]), today, weeks=weeks)


def _last_month(match: re.Match[str], today: date) -> Stretch:
    return stretches.month(month_number(match["month"]), None, today, over=True)


def _last_season(match: re.Match[str], today: date) -> Stretch:
    return stretches.last_season(season_of(match["season"]), today, this=_is_this(match))


def _month_of_year(match: re.Match[str], today: date) -> Stretch:
    return stretches.month(month_number(match["month"]), today.year - _YEARS_BACK[match["back"]], today)


def _season_of_year(match: re.Match[str], today: date) -> Stretch:
    return stretches.season(season_of(match["season"]), today.year - _YEARS_BACK[match["back"]])


def _year_back(match: re.Match[str], today: date) -> Stretch:
    return Stretch(*stretches.span_of("year", today, _YEARS_BACK[match["back"]]), relative=True)


_LAST = (
    r"(?P<which>last|past|previous|this|letzte[nrsm]?|vorige[nrsm]?|vergangene[nrsm]?|diese[nrsm]?|scors[oa]|passat[oa]"
    r"|cette|cet|ce|este|esta|questa|questo|quest['’]|neste|nesta|vorige?|afgelopen|deze|dit)"
)
_LATEST = r"(?:últim[oa]s|ultim[ie]|laatste|afgelopen)"
_WEEKEND = r"(?:wochenende|week-end|fine\s+settimana|fin\s+de\s+semana|fim\s+de\s+semana|weekend)"
_GONE = r"(?:derni(?:er|ère)|passée?|pasad[oa]|scors[oa]|passat[oa]|passad[oa])"

_ENGLISH: tuple[tuple[re.Pattern[str], Reader], ...] = (
    (pattern(r"(?:the\s+)?day\s+before\s+yesterday"), _days_back(2)),
    (pattern(r"yesterday|last\s+night"), _days_back(1)),
    (pattern(r"today|tonight|this\s+(?:morning|afternoon|evening)"), _days_back(0)),
    (pattern(rf"(?:a\s+)?{COUNT}\s+{UNIT}\s+(?:ago|back|earlier)"), _ago),
    (pattern(rf"(?:in|over|during|within|for)\s+the\s+(?:last|past|previous)\s+{COUNT}\s+{UNIT}"), _lately),
    (pattern(r"(?P<which>last|past|previous|this)\s+weekend"), _weekend),
    (pattern(rf"(?:last|past|previous|this|on)\s+{WEEKDAY}"), _weekday),
)
_EUROPEAN: tuple[tuple[re.Pattern[str], Reader], ...] = (
    (pattern(r"vorgestern|avant-hier|anteayer|antier|l['’]altro\s+ieri|anteontem|eergisteren"), _days_back(2)),
    (pattern(r"gestern|ayer|ieri|ontem|gisteren|anoche"), _days_back(1)),
    (pattern(r"hier"), _hier),
    (pattern(r"heute|aujourd['’]hui|hoy|oggi|hoje|vandaag"), _days_back(0)),
    (pattern(rf"(?:vor|il\s+y\s+a|hace|há)\s+{COUNT}\s+{UNIT}"), _ago),
    (pattern(rf"{COUNT}\s+{UNIT}\s+(?:fa|geleden|atrás)"), _ago),
    (pattern(rf"in\s+den\s+(?:letzten|vergangenen)\s+{COUNT}\s+{UNIT}"), _lately),
    (pattern(rf"(?:les|ces|des)\s+{COUNT}\s+derni(?:ers|ères)\s+{UNIT}"), _lately),
    (pattern(rf"(?:en|in|negli|nelle|nos|nas)\s+(?:l[oa]s\s+|de\s+)?{_LATEST}\s+{COUNT}\s+{UNIT}"), _lately),
    (pattern(rf"(?:am\s+)?{_LAST}\s+{_WEEKEND}"), _weekend),
    (pattern(rf"(?:le\s+week-end|el\s+fin\s+de\s+semana|[on]?o\s+fim\s+de\s+semana|il\s+weekend)\s+{_GONE}"), _weekend),
    (pattern(rf"(?:am|letzten|vergangenen|vorigen|diesen|afgelopen|vorige|op|scors[oa])\s+{WEEKDAY}"), _weekday),
    (pattern(rf"(?:el\s+|na\s+|no\s+)?{WEEKDAY}\s+{_GONE}"), _weekday),
    (pattern(rf"(?:el|na|no)\s+{WEEKDAY}"), _weekday),
    (pattern(rf"{SEASON}\s+{_GONE}"), _last_season),
    (pattern(rf"(?:the\s+)?{_LAST}\s+{SEASON}"), _last_season),
    (pattern(rf"{MONTH}\s+{_GONE}"), _last_month),
    (pattern(rf"(?:letzten|vorigen|vergangenen|afgelopen|vorige)\s+{MONTH}"), _last_month),
    (pattern(rf"(?:la\s+|el\s+|le\s+|l['’]|il\s+|a\s+|o\s+|na\s+|no\s+)?{UNIT}\s+{_GONE}"), _last_unit),
    (pattern(rf"(?:the\s+)?{_LAST}\s*\b{UNIT}"), _last_unit),
)
_WEEK = "(?:周|星期|礼拜)"
EAST_ASIAN: tuple[tuple[re.Pattern[str], Reader], ...] = (
    (re.compile("大前天"), _days_back(3)),
    (re.compile("前天|前晚|一昨日|おととい|그저께|그제|엊그제"), _days_back(2)),
    (re.compile("昨天|昨日|昨晚|昨夜|きのう|어제|어젯밤"), _days_back(1)),
    (re.compile("今天|今日|今早|今晚|きょう|오늘"), _days_back(0)),
    (re.compile(rf"{HAN_COUNT}\s*个?(?P<unit>天|周|星期|礼拜|月|年)(?:之前|以前|前)"), _ago),
    (re.compile(rf"{HAN_COUNT}\s*(?P<unit>日|週間|か月|ヶ月|カ月|ケ月|ヵ月|個月|年)前"), _ago),
    (re.compile(rf"{COUNT}\s*(?P<unit>일|주일|주|달|개월|년)\s*전"), _ago),
    (re.compile(rf"(?:最近|过去|近|这)(?:的)?\s*{HAN_COUNT}\s*个?(?P<unit>天|周|星期|月|年)(?:来|内|里)?"), _lately),
    (re.compile(rf"(?:ここ|この|過去|最近)\s*{HAN_COUNT}\s*(?P<unit>日|週間|か月|ヶ月|カ月|年)間?"), _lately),
    (re.compile(rf"(?:지난|최근)\s*{COUNT}\s*(?P<unit>일|주|달|개월|년)(?:간|\s*동안)"), _lately),
    (re.compile(rf"(?P<which>上上|上|这|本)个?{_WEEK}末"), _weekend),
    (re.compile("(?P<which>上|这)?个?周末(?=我|你|去|做|干|的时候)|先[週周]末|지난\\s*주말|저번\\s*주말"), _weekend),
    (re.compile(rf"(?P<which>上上|上|这|本)个?{_WEEK}(?P<weekday>[一二三四五六日天])"), _weekday_of_week),
    (re.compile("(?P<which>先|今)[週周]の?(?P<weekday>[月火水木金土日]曜)日?"), _weekday_of_week),
    (re.compile("(?P<which>지난|이번)\\s*주\\s*(?P<weekday>[월화수목금토일]요일)"), _weekday_of_week),
    (re.compile(rf"上上个?{_WEEK}|先々[週周]|지지난\s*주"), _units_back("week", 2)),
    (re.compile(rf"上个?{_WEEK}|先[週周]|지난\s*주|저번\s*주"), _units_back("week", 1)),
    (re.compile(rf"(?:这|本)个?{_WEEK}|今[週周]|이번\s*주"), _units_back("week", 0)),
    (re.compile("上上个?月|先々月|지지난\\s*달"), _units_back("month", 2)),
    (re.compile("上个?月|先月|지난\\s*달|저번\\s*달"), _units_back("month", 1)),
    (re.compile("(?:这|本)个?月|今月|이번\\s*달"), _units_back("month", 0)),
    (re.compile("上个?季度"), _units_back("quarter", 1)),
    (re.compile(rf"(?P<back>{'|'.join(_YEARS_BACK)})\s*の?{HAN_MONTH}份?"), _month_of_year),
    (re.compile(rf"(?P<back>{'|'.join(_YEARS_BACK)})\s*の?{SEASON}(?!节)"), _season_of_year),
    (re.compile(f"(?P<back>{'|'.join(_YEARS_BACK)})"), _year_back),
)

PATTERNS = (
    (words("yesterday last night today tonight this ago back earlier past previous on"), _ENGLISH),
    (
        words(
            """
            last past previous this
            gestern vorgestern heute vor letzte letzten letzter letztes letztem vorige voriger voriges vorigen
            vergangene vergangenen vergangener vergangenes diese dieser dieses diesen diesem am
            hier avant aujourd hui il dernier dernière derniers dernières passé passée cette cet ce
            ayer anteayer antier anoche hoy hace pasado pasada últimos últimas este esta el
            ieri altro oggi fa scorso scorsa passato passata ultimi ultime questo questa quest
            ontem anteontem hoje há atrás passado passada neste nesta na no
            gisteren eergisteren vandaag geleden afgelopen deze dit laatste op
            """
        ),
        _EUROPEAN,
    ),
)
"""The words one of which a question must hold, and the patterns that may match then."""
