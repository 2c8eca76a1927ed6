"""What column names say: words and stems in English, German, French, Spanish, Italian and Portuguese.

A word stands for a whole part of a name (`sex` in `sex_of_child`, not in `sextant`); a stem of five letters or more
may stand anywhere in it (`geburts` in `Geburtsdatum`). Accents and capitals do not matter. Only lists: no rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from muco.switches import Role


class Topic(StrEnum):
    """What a column is about."""

    EMAIL = "e-mail"
    PHONE = "telephone"
    PERSON = "personal name"
    ADDRESS = "address"
    DOCUMENT = "document or account number"
    NUMBER = "record or person number"
    AGE = "age"
    BIRTH = "birth"
    SEX = "sex"
    HEALTH = "health"
    MONEY = "income or money"
    SCORE = "score or mark"
    CRIME = "crime"
    POLITICS = "political or private life"
    POSTCODE = "postal code"
    PLACE = "place"
    ORIGIN = "ethnicity or origin"
    RELIGION = "religion"
    MARITAL = "marital status"
    RELATION = "relationship and housing"
    FAMILY = "family and household"
    EDUCATION = "education"
    WORK = "occupation and work"
    HOURS = "working time"
    BODY = "body measure"
    DATE = "date"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Entry:
    """The words of one topic, and the role it suggests."""

    topic: Topic
    role: Role
    words: frozenset[str]
    stems: tuple[str, ...] = ()


def _entry(topic: Topic, role: Role, words: str, stems: str = "") -> Entry:
    return Entry(topic, role, frozenset(words.split()), tuple(stems.split()))


# From the most telling to the least: the first topic that content does not contradict is taken.
LEXICON = (
    _entry(
        Topic.EMAIL,
        Role.IDENTIFIER,
        "email emails mail mails courriel correo",
        "emailaddr mailaddr correoelectronico",
    ),
    _entry(
        Topic.PHONE,
        Role.IDENTIFIER,
        "phone tel telefon telephone telefono telefone mobile handy cell celular cellulare movil telemovel "
        "fax rufnummer portable",
        "phonenumber telefonnummer mobilnummer",
    ),
    _entry(
        Topic.PERSON,
        Role.IDENTIFIER,
        "name names first last fullname surname forename firstname lastname givenname nickname maiden vorname "
        "nachname familienname rufname nom prenom noms apellido apellidos nombres nombre cognome nome "
        "sobrenome apelido username login victim suspect defendant owner",
        "firstname lastname surname forename vorname nachname prenom apellid sobrenome fullname",
    ),
    _entry(
        Topic.ADDRESS,
        Role.IDENTIFIER,
        "address addr adresse anschrift strasse street hausnummer direccion domicilio calle indirizzo "
        "endereco morada rua",
        "streetname addressline anschrift hausnummer domicilio indirizzo lieudit",
    ),
    _entry(
        Topic.DOCUMENT,
        Role.IDENTIFIER,
        "ssn nino nhs nhsno dni nie nif nir cpf rg bsn pesel personnummer cnp iban bic passport passeport "
        "pasaporte passaporto reisepass ausweis steuerid steuernummer svnr ahv insee codicefiscale mrn "
        "account accountnumber konto kontonummer cuenta compte creditcard license licence plate kennzeichen "
        "vin imei ip ipaddress mac url website linkedin twitter facebook instagram",
        "passport ausweisnummer sozialversicherung socialsecurity versichertennummer accountnumber "
        "kontonummer codicefiscale creditcard kreditkarte ipaddress steuerident",
    ),
    _entry(
        Topic.NUMBER,
        Role.IDENTIFIER,
        "id ids individual person subject respondent uid uuid guid pid caseid personid patientid subjectid "
        "userid custid customerid memberid studentid employeeid empid householdid hhid serial pernum seqn "
        "seqno rownames rownum rowid index idx key unnamed recordid respid idnum nr kennung kennnummer "
        "matricule matricula matrikelnummer expediente persnr pnr",
        "personid patientid subjectid customerid studentid employeeid respondentid identifier identifik "
        "participantid",
    ),
    _entry(
        Topic.AGE,
        Role.QUASI,
        "age ages agey ageyr ageyrs ageyears agegroup agecat ageband agep alter alters altersgruppe "
        "altersklasse edad edades eta idade idades ridageyr agerange",
        "altersgr agegroup agecateg anciennete grupoedad",
    ),
    _entry(
        Topic.BIRTH,
        Role.QUASI,
        "dob birth birthdate birthday birthyear yob born bday gebdat gebjahr geburt geburtstag naissance "
        "nacimiento fnac nascita nascimento jahrgang cohort birthyr birthmo",
        "birthdate birthday birthyear yearofbirth dateofbirth monthofbirth geburts naissanc nacimient nascita "
        "nasciment",
    ),
    _entry(
        Topic.SEX,
        Role.QUASI,
        "sex sexe sexo sesso gender geschlecht geschl genre genero genere riagendr male female woman man "
        "women men frau mann femme femmes homme hommes mujer hombre donna uomo mulher homem fem isfemale "
        "ismale",
        "gender geschlecht",
    ),
    _entry(
        Topic.HEALTH,
        Role.SENSITIVE,
        "ecog health diagnosis diagnoses diag dx icd icd9 icd10 disease illness condition symptom symptoms "
        "comorbidity medication medications drug drugs prescription hiv aids std cancer tumor tumour stroke "
        "diabetes diabetic depression anxiety mental psychiatric disability disabled handicap pregnant "
        "pregnancy abortion surgery procedure hospital death dead died deceased mortality survived suicide "
        "smoker smoking smoke smokes smkstat alcohol drinker cholesterol chol glucose hba1c bp sbp dbp "
        "bloodpressure hypertension asthma infection covid vaccination treatment therapy krankheit gesundheit "
        "befund behandlung tod raucher maladie sante deces fumeur enfermedad salud muerte fumador malattia "
        "salute diagnosi morte doenca saude obito diagnose diagnostic diagnostico allergy allergies pain "
        "injury heartdisease cause mmse karno survival",
        "diagnos hlth disease illness krankheit gesundhe erkrankung maladie enfermedad malattia doencas "
        "medicat symptom cholester glucose diabet hypertens depress psychiat disabilit behinder handicap "
        "mortalit smoking alcohol pregnan schwanger suicid cancer tumor hospital",
    ),
    _entry(
        Topic.MONEY,
        Role.SENSITIVE,
        "savings saving income inc incwage inctot inchh hhincome faminc famincome hinc pincp wage wages lwage "
        "logwage hourlywage wagehr salary salaries pay payment payments earnings earn earned earning wealth "
        "asset assets debt debts loan loans credit mortgage balance pension benefit benefits taxes rent "
        "expenditure expenses spending capital gain loss capitalgain capitalloss networth lohn gehalt "
        "einkommen verdienst vermoegen vermogen schulden rente brutto netto salaire revenu revenus patrimoine "
        "dette salario ingreso ingresos renta sueldo deuda reddito stipendio paga debito renda ordenado "
        "rendimento divida receita limitbal amount pagamento medexp",
        "income salary einkommen verdienst gehalt vermogen salaire revenu salario ingreso reddito stipend "
        "rendiment earning wealth networth",
    ),
    _entry(
        Topic.SCORE,
        Role.SENSITIVE,
        "score scores grade grades gpa mark marks exam examscore test tests rating iq sat act percentile "
        "result results note noten zensur punkte punktzahl voto nota notas puntaje puntuacion calificacion "
        "punteggio pontuacao moyenne decile",
        "score testresult punktzahl puntuac punteggio pontuac calificac",
    ),
    _entry(
        Topic.CRIME,
        Role.SENSITIVE,
        "crime crimes arrest arrests arrested conviction convicted offense offence charge charges felony "
        "prison jail recid recidivism prior priors priorscount straftat verurteilung delit delito reato "
        "condanna condena sentence",
        "recidiv convict offens offence criminal arrest straftat",
    ),
    _entry(
        Topic.POLITICS,
        Role.SENSITIVE,
        "vote votes voted voting party partyid pid7 politics ideology lean abuse affair affairs sexual "
        "orientation sexualorientation union wahl partei parti partido partito voto democrat republican",
        "political ideolog sexualorient extramarit gewerkschaft",
    ),
    _entry(
        Topic.POSTCODE,
        Role.QUASI,
        "zip zipcode zip5 zcta postal postcode postalcode plz postleitzahl cp codepostal codigopostal cap cep",
        "zipcode postcode postalcode postleitzahl codepostal codigopostal",
    ),
    _entry(
        Topic.PLACE,
        Role.QUASI,
        "city town village county country state region province district municipality parish neighborhood "
        "neighbourhood borough precinct tract blockgroup fips statefip countyfips metro msa urban rural "
        "location place birthplace bpl residence latitude longitude lat lon lng long ort wohnort stadt "
        "gemeinde kreis landkreis bundesland land staat provinz bezirk ville commune departement dept pays "
        "lieu residencia ciudad pueblo municipio comarca provincia pais lugar comune citta paese regione "
        "stato cidade concelho freguesia distrito estado uf smsa community south west north midwest northeast "
        "continent pueb",
        "birthplace municip neighb county country provinc geburtsort wohnort bundesland gemeinde departement "
        "latitude longitude residenc localidad localita",
    ),
    _entry(
        Topic.ORIGIN,
        Role.QUASI,
        "race raced ethnicity ethnic ethnie hispanic hispan latino latina nativity black white asian afam "
        "nationality citizenship citizen citizenshp migration migrant immigrant foreign foreigner ancestry "
        "origin language mothertongue ridreth1 ridreth3 indigenous aboriginal rasse herkunft nationalitaet "
        "nationalitat staatsangehoerigkeit staatsangehorigkeit muttersprache sprache auslaender nationalite "
        "langue origine raza etnia nacionalidad idioma lengua cittadinanza nazionalita lingua raca cor "
        "nacionalidade hisp",
        "ethnic national citizen immigr migrat staatsang hispanic mothertongue cittadin",
    ),
    _entry(
        Topic.RELIGION,
        Role.QUASI,
        "religion religious relig faith church denomination konfession glaube catholic muslim jewish "
        "protestant religione religiao culte",
        "religi konfession confession",
    ),
    _entry(
        Topic.MARITAL,
        Role.QUASI,
        "marital maritalstatus marst marstat married marr mar marriage spouse divorced widowed single "
        "familienstand verheiratet civil estadocivil statocivile etatcivil casado casada conjoint matrimonial",
        "marital marriag married familienstand estadocivil statocivil etatcivil situationmatri yrsmarr",
    ),
    _entry(
        Topic.RELATION,
        Role.QUASI,
        "relate relationship relation tenure homeowner housing famrel hhtype ownership haushaltstyp wohnform",
        "relationship housing",
    ),
    _entry(
        Topic.FAMILY,
        Role.QUASI,
        "household hhsize famsize family families nchild children child kids kid siblings dependents "
        "dependants parents mother father kidslt6 kids618 haushalt haushaltsgroesse kinder kind enfants "
        "menage hijos hogar figli famiglia filhos agregado familia nfam sibsp parch persons adults tamano",
        "household haushalt nchild children enfants famsize",
    ),
    _entry(
        Topic.EDUCATION,
        Role.QUASI,
        "educyr educyrs education educ educd edu educyears educationnum schooling school schl degree "
        "qualification qualifications diploma graduate college highschool university literacy bildung "
        "schulabschluss abschluss ausbildung etudes diplome scolarite niveau educacion estudios escolaridad "
        "estudio istruzione titolo studio escolaridade educacao habilitacoes grado dmdeduc2 yearsschool ed "
        "meduc feduc mathnce edyrs",
        "educat educac bildung schulabschl abschluss qualific highschool diplom scolar escolar istruz estudios",
    ),
    _entry(
        Topic.WORK,
        Role.QUASI,
        "occupation occ occupatn occ1990 occ2010 occscore occhusb job jobtitle profession employment employed "
        "employer empstat empstatd labforce unemployed work worker works working workclass classwkr industry "
        "ind ind1990 sector company organization department position title rank collar bluecol whitecol "
        "retired student veteran vetstat military beruf taetigkeit tatigkeit branche arbeit arbeitgeber "
        "erwerbsstatus metier emploi travail secteur csp ocupacion profesion empleo trabajo professione "
        "lavoro impiego settore ocupacao profissao emprego trabalho classe",
        "occupat employ profession industr workclass arbeitgeb beruf erwerb ocupac profes tatigkeit taetigkeit",
    ),
    _entry(
        Topic.HOURS,
        Role.QUASI,
        "exp wks seniority berufserfahrung experience exper yearsexperience hours hrs uhrswork hoursperweek "
        "workhours wkswork1 wkswork2 weeks stunden arbeitszeit heures horas ore",
        "hoursperweek hoursworked arbeitszeit wochenstunden",
    ),
    _entry(
        Topic.BODY,
        Role.QUASI,
        "ht wt height weight hgt wgt bmi bmxbmi bmxht bmxwt stature kg wt82 wt71 groesse gewicht "
        "koerpergroesse taille poids altura peso altezza estatura haircolor eyecolor bodyweight handed "
        "handedness",
        "height bodyweight bodymass korpergr koerpergr",
    ),
    _entry(
        Topic.DATE,
        Role.QUASI,
        "date datum fecha data dates timestamp datetime day jour dia giorno tag admission discharge visit "
        "visitdate entry exit created updated time start end zeitpunkt",
        "admission discharge visitdate datetime timestamp aufnahmedat entlassung",
    ),
    _entry(
        Topic.YEAR,
        Role.QUASI,
        "year yr jahr annee ano anno survyear",
        "yearof",
    ),
)
