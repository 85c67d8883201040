"""Everyday words that may stand for what a question asks about: a small table, one group a line.

The words of a plain line stand for each other. ``family > sister`` leads one way: who asks about the family may mean
the sister, who asks about the sister does not mean the whole family.
"""

from __future__ import annotations

_GROUPS = """
kid child children kids toddler
mom mother mum mama
dad father papa
grandma grandmother granny nana
grandpa grandfather grandad
wife husband spouse partner
boyfriend girlfriend partner
fiance fiancee engaged engagement
marry married marriage wedding wed
divorce divorced separated
baby newborn infant pregnant
sibling > brother sister
parent > mother father mom dad
child > son daughter kid toddler
relative > aunt uncle cousin niece nephew grandma grandpa
family > mother father mom dad sister brother son daughter wife husband kids parents aunt uncle cousin relatives
friend buddy pal mate friends
relationship > dating boyfriend girlfriend single married partner breakup
single > dating breakup
pet > dog cat puppy kitten hamster parrot rabbit fish turtle bird
dog puppy pup doggo
cat kitten kitty
animal > dog cat bird horse fish pet wildlife
job work career occupation profession employment
job > position role hired employer
boss manager supervisor
coworker colleague teammate
company employer firm business
salary pay wage income
hire hired recruit recruited
fire fired layoff
quit resign resigned resignation
promotion promoted
interview interviewed interviewing
retire retired retirement
school > class teacher college university
college university uni campus
degree > bachelor master phd graduate graduated diploma major
graduate graduated graduation
education educational edu
education > school degree study studying university college
study studying studies research
research researching researched
teacher professor instructor tutor
student pupil
exam test quiz
class course lesson workshop
car vehicle auto automobile
car > sedan suv truck prius
bike bicycle cycling biking
bus coach
flight fly flew plane
travel trip journey travelled traveled traveling visit visited
vacation holiday vacay getaway
trip > vacation holiday visit tour roadtrip
hotel hostel accommodation lodging
move moved relocate relocated relocation moving
live lived living reside
home house apartment flat
apartment flat condo
city town
city > seattle chicago boston london paris tokyo berlin
country > abroad homeland nation overseas
beach seaside coast ocean
mountain hike hiking trail
hike hiking trek hiked
camp camping campfire tent
doctor physician
doctor > appointment checkup clinic
illness sick ill disease sickness
health > doctor hospital sick diet diagnosis
hospital clinic er
injury hurt injured injure
medicine medication pills meds prescription
allergy allergic allergies
pain ache sore
gym workout exercise fitness
exercise > gym workout yoga running jogging
run running jog jogging marathon
race marathon
sport > basketball football soccer tennis baseball hockey swimming surfing
team > teammates squad
game match
win won victory champion championship
award prize trophy
compete competition contest tournament
coach trainer
food > meal recipe dish cookies pizza pasta cuisine snack dinner lunch breakfast eat
eat ate eaten eating
meal dinner lunch breakfast supper
cook cooking cooked bake baking recipe
recipe dish
dessert cake cookies pie pastry
vegetarian vegan
drink beverage
drink > coffee tea beer wine juice
coffee espresso latte
restaurant cafe diner bistro
movie film
movie > watch watched cinema
book novel
book > read reading author series
author writer
write writing wrote written
read reading
poem poetry
song music
music > song band concert album guitar piano violin
instrument > guitar piano violin drums clarinet flute ukulele
concert gig show
band group
art > painting drawing sculpture pottery
paint painting painted paintings
draw drawing sketch
photo picture photograph pic photography
hobby > painting hiking reading gardening photography dancing cooking gaming pottery
hobby pastime interest hobbies
activity > hiking swimming camping painting cooking dancing reading
game > console playstation xbox nintendo chess
dance dancing danced dancer
garden gardening plants
plant plants
volunteer volunteering volunteered charity
charity donate donation donated fundraiser fundraising
organization nonprofit ngo
community neighborhood
church faith religion religious
religion > church faith mosque temple prayer christian muslim jewish hindu buddhist
politics political campaign election
event > party festival concert wedding conference ceremony parade
party celebration celebrate
festival fair
birthday bday
gift present
buy bought purchase purchased shopping
sell sold
money cash
cost price expensive
price cost priced
cheap affordable inexpensive
rent rental lease
loan mortgage debt
pay paid payment
save saving savings
budget spending expenses
own owned
lose lost
find found
start started begin began launch launched
finish finished complete completed end
build built
create created made
fix fixed repair repaired resolve resolved
break broke broken
change changed switch switched
choose chose chosen pick picked
decide decided decision
plan plans planned planning
goal > aim dream aspire ambition hope
goal aim objective target
dream aspiration
favorite favourite love
like love enjoy enjoyed prefer
hate dislike
fear afraid scared phobia
worry worried anxious anxiety nervous stress stressed
happy glad excited thrilled joy
sad upset depressed unhappy
angry mad annoyed frustrated frustrating frustration
proud pride
tired exhausted
stress > overwhelmed pressure burnout
relax relaxing unwind destress
support supportive encourage encouragement
advice tip suggestion recommendation
recommend suggest recommendation suggestion
problem issue trouble
challenge obstacle struggle difficulty
mistake error
accident crash
meet met meeting
meeting call appointment
talk spoke chat conversation
call phone
phone cellphone smartphone mobile
computer laptop pc
email mail
address > street avenue zip
birthplace born hometown
nationality > born citizen passport
identity > gender transgender queer gay
name called named nickname
color colour
size > small medium large
date deadline due
deadline due
schedule timetable calendar
morning breakfast
weekend saturday sunday
summer june july august
winter december january february
spring march april may
autumn fall september october november
christmas xmas
old age aged
young younger
big large huge
small little tiny
fast quick quickly
slow slowly
new recent recently
often frequently frequency weekly daily
usual usually regular regularly
app application
db database
database > postgres postgresql mysql sqlite mongodb
repo repository git
auth authentication login
login signin authentication
bug error issue defect
error exception failure
config configuration settings
setting settings preference
deploy deployment release
test testing tests
performance latency speed throughput
latency response
docs documentation
function method
library package dependency
server backend
frontend ui interface
security secure vulnerability
password credential
env environment
js javascript
ts typescript
py python
k8s kubernetes
container docker
cache caching cached
api endpoint
feature functionality
requirement requirements
version release
metric measure measurement
accuracy precision
increase increased rise grew
decrease decreased reduce reduced reduction
"""

SYNONYM = 0.5
"""What a word that stands for another counts for."""
KIND = 0.35
"""What a kind of the thing asked about counts for."""


def _table() -> dict[str, dict[str, float]]:
    table: dict[str, dict[str, float]] = {}
    for line in _GROUPS.strip().split("\n"):
        general, arrow, special = line.partition(" > ")
        words = general.split()
        for word in words:
            known = table.setdefault(word, {})
            for other in special.split() if arrow else words:
                if other != word:
                    known[other] = max(known.get(other, 0.0), KIND if arrow else SYNONYM)
    return table


SYNONYMS: dict[str, dict[str, float]] = _table()
