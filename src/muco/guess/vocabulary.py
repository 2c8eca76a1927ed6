"""What values say: the words by which a column shows its topic whatever its name, in several languages."""

from __future__ import annotations

from muco.guess.traits import Traits
from muco.guess.words import Topic

_ENOUGH = 0.6  # of the distinct values


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.split(","))


VOCABULARY = {
    Topic.SEX: _words(
        "m, f, male, female, man, woman, men, women, boy, girl, males, females, männlich, weiblich, divers, "
        "w, mann, frau, homme, femme, masculin, féminin, hombre, mujer, masculino, femenino, maschio, "
        "femmina, maschile, femminile, homem, mulher, feminino, other, diverse, nonbinary, non-binary"
    ),
    Topic.MARITAL: _words(
        "married, single, divorced, widowed, separated, never married, never-married, nevermarried, "
        "unmarried, married-civ-spouse, married-af-spouse, married-spouse-absent, cohabiting, partnered, "
        "living with partner, livepartner, ledig, verheiratet, geschieden, verwitwet, célibataire, marié, "
        "mariée, divorcé, divorcée, veuf, veuve, soltero, soltera, casado, casada, divorciado, divorciada, "
        "viudo, viuda, celibe, nubile, coniugato, coniugata, vedovo, vedova, solteiro, solteira, viúvo, viúva"
    ),
    Topic.ORIGIN: _words(
        "white, black, asian, hispanic, latino, caucasian, african american, african-american, native "
        "american, amer-indian-eskimo, asian-pac-islander, american indian, pacific islander, mexican, other "
        "hispanic, mixed, cauc, afam, hisp, white non-hispanic, black non-hispanic, two or more races, other, "
        "non-hispanic white, non-hispanic black"
    ),
    Topic.EDUCATION: _words(
        "bachelors, masters, doctorate, hs-grad, some-college, assoc-voc, assoc-acdm, prof-school, 11th, "
        "10th, 9th, 12th, preschool, high school, some college, college, college grad, university, primary, "
        "secondary, tertiary, bachelor, master, phd, graduate, 8th grade, 9 - 11th grade, high school "
        "graduate, bachelor's degree, master's degree, abitur, hauptschule, realschule, gymnasium, "
        "hochschule, licence, baccalauréat, primaria, secundaria, bachillerato, universidad, licenza media, "
        "diploma, laurea, ensino médio, ensino superior"
    ),
    Topic.PLACE: _words(
        "united-states, united states, usa, us, uk, united kingdom, germany, france, spain, italy, portugal, "
        "mexico, canada, china, india, japan, brazil, england, ireland, poland, russia, australia, cuba, "
        "jamaica, philippines, vietnam, greece, netherlands, belgium, austria, switzerland, sweden, norway, "
        "denmark, finland, turkey, deutschland, frankreich, spanien, italien, österreich, schweiz, allemagne, "
        "espagne, italie, españa, alemania, francia, italia, germania, spagna, brasil, espanha, al, ak, az, "
        "ar, ca, co, ct, de, fl, ga, hi, id, il, in, ia, ks, ky, la, me, md, ma, mi, mn, ms, mo, mt, ne, nv, "
        "nh, nj, nm, ny, nc, nd, oh, ok, or, pa, ri, sc, sd, tn, tx, ut, vt, va, wa, wv, wi, wy, dc, alabama, "
        "alaska, arizona, california, colorado, florida, georgia, illinois, massachusetts, michigan, new "
        "york, ohio, pennsylvania, texas, virginia, washington, berlin, bayern, hamburg, hessen, sachsen, "
        "bremen, northeast, midwest, south, west, north, east, urban, rural, suburban"
    ),
    Topic.RELIGION: _words(
        "catholic, protestant, muslim, jewish, hindu, buddhist, orthodox, atheist, christian, islam, "
        "katholisch, evangelisch, konfessionslos, catholique, musulman, católico, cattolico"
    ),
    Topic.WORK: _words(
        "employed, unemployed, retired, student, self-employed, homemaker, private, self-emp-not-inc, "
        "local-gov, state-gov, federal-gov, working, not working, notworking, looking, full-time, part-time, "
        "farmer, teacher, clerical, prof-specialty, craft-repair, exec-managerial, adm-clerical, sales, "
        "other-service, machine-op-inspct, transport-moving, handlers-cleaners, tech-support, angestellt, "
        "selbständig, arbeitslos, rentner, beamter, étudiant, retraité, chômeur, ouvrier, cadre, employé, "
        "estudiante, jubilado, empleado, desempleado, studente, pensionato, impiegato, disoccupato, operaio, "
        "desempregado, reformado, estudante"
    ),
}


def topic_of_values(traits: Traits) -> Topic | None:
    """The topic that most of the distinct values belong to; None for values that speak of nothing known."""
    if not 2 <= len(traits.text) <= 500:
        return None
    words = set(traits.text.str.to_lowercase().str.strip_chars(".").to_list())
    shares = {topic: len(words & known) / len(words) for topic, known in VOCABULARY.items()}
    best = max(shares, key=lambda topic: shares[topic])
    few = len(words) <= 3 and shares[best] < 1
    return best if shares[best] >= _ENOUGH and not few and words != {"other"} else None
