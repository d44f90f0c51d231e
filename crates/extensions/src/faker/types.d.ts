/**
 * Made-up names, addresses, texts and numbers, with the functions of the extension xk6-faker.
 *
 * The default export is a `Faker`. Its functions stand in groups, and all of them once more in the group `zen`. A
 * function can be taken out of its group: `const { firstName } = faker.person`.
 *
 * ```js
 * import faker, { Faker } from "k6/x/faker";
 *
 * const known = new Faker(11);
 *
 * export default function () {
 *   console.log(faker.person.firstName(), faker.internet.url());
 *   console.log(known.numbers.intRange(1, 6), known.call("city"));
 * }
 * ```
 *
 * The same seed gives the same values in the same order in every run; times that lie in the future or in the past, and
 * dates of credit cards, also depend on the clock. The values are not those that the extension makes of a seed. The
 * variable `XK6_FAKER_SEED`, or `K6_FAKER_SEED`, is the seed of the default export. Each user has fakers of its own: with
 * the same seed they all begin with the same values. Add `__VU` to a seed where users should differ.
 *
 * A wrong argument throws a `GoError`: `digitN(): argument 1, count, is missing, expected number`. No text, and no list
 * of dice, is longer than 1,000,000. Domains and URLs may be somebody's, addresses of e-mail are nobody's. Members of
 * records have the names that k6 gives them, such as `first_name`.
 */

/** Makes values. */
export class Faker {
  /**
   * @param seed a whole number; without one, or with 0, nobody knows which values come
   * @throws GoError when the seed is no whole number
   */
  constructor(seed?: number);
  /**
   * Calls a function by its name, in any case of the letters, whatever its group.
   *
   * @throws GoError for a name that no function has, with the nearest one
   */
  call(name: string, ...args: unknown[]): unknown;
}
export interface Faker extends Groups {}

declare const faker: Faker;
export default faker;

/** Where somebody lives. */
export interface Address {
  /** All of it in a line. */
  address: string;
  street: string;
  city: string;
  state: string;
  zip: string;
  country: string;
  /** Degrees north. */
  latitude: number;
  /** Degrees east. */
  longitude: number;
}

export interface Book {
  title: string;
  author: string;
  genre: string;
}

export interface Car {
  type: string;
  fuel: string;
  transmission: string;
  brand: string;
  model: string;
  year: number;
}

export interface CreditCard {
  type: string;
  number: string;
  /** Month and year, as `09/31`. */
  exp: string;
  cvv: string;
}

export interface Currency {
  /** Three letters. */
  short: string;
  long: string;
}

export interface Job {
  company: string;
  title: string;
  descriptor: string;
  level: string;
}

export interface Movie {
  name: string;
  genre: string;
}

export interface Person {
  first_name: string;
  last_name: string;
  gender: string;
  ssn: string;
  /** The URL of an image. */
  image: string;
  hobby: string;
  job: Job;
  address: Address;
  contact: { phone: string; email: string };
  credit_card: CreditCard;
}

export interface Product {
  name: string;
  description: string;
  categories: string[];
  price: number;
  features: string[];
  color: string;
  material: string;
  upc: string;
}

// Made of the table by the tests from here.

/** Addresses and places. */
export interface AddressFunctions {
  /** A whole address. */
  address(): Address;
  /** A city. */
  city(): string;
  /** A country. */
  country(): string;
  /** The two letters of a country. */
  countryAbbreviation(): string;
  /** Degrees north. */
  latitude(): number;
  /** Degrees north between both. `min` is 0 if not given. `max` is 90 if not given. */
  latitudeRange(min?: number, max?: number): number;
  /** Degrees east. */
  longitude(): number;
  /** Degrees east between both. `min` is 0 if not given. `max` is 180 if not given. */
  longitudeRange(min?: number, max?: number): number;
  /** A state of the USA. */
  state(): string;
  /** The two letters of a state of the USA. */
  stateAbbreviation(): string;
  /** A street with a number. */
  street(): string;
  /** The name of a street, without what kind of street it is. */
  streetName(): string;
  /** The number of a house. */
  streetNumber(): string;
  /** What stands before the name of a street. */
  streetPrefix(): string;
  /** What kind of street it is. */
  streetSuffix(): string;
  /** A postal code of the USA. */
  zip(): string;
}

/** Animals. */
export interface AnimalFunctions {
  /** An animal. */
  animal(): string;
  /** A class of animals. */
  animalType(): string;
  /** A bird. */
  bird(): string;
  /** A breed of cats. */
  cat(): string;
  /** A breed of dogs. */
  dog(): string;
  /** An animal of a farm. */
  farmAnimal(): string;
  /** The name of a pet. */
  petName(): string;
}

/** Programs. */
export interface AppFunctions {
  /** A person or a company. */
  appAuthor(): string;
  /** The name of a program. */
  appName(): string;
  /** A version, as `1.12.4`. */
  appVersion(): string;
}

/** Beers. */
export interface BeerFunctions {
  /** Its alcohol, as `5.2%`. */
  beerAlcohol(): string;
  /** The extract of its wort, as `12.4°Blg`. */
  beerBlg(): string;
  /** A kind of hop. */
  beerHop(): string;
  /** How bitter it is, as `29 IBU`. */
  beerIbu(): string;
  /** A kind of malt. */
  beerMalt(): string;
  /** The name of a beer. */
  beerName(): string;
  /** A kind of beer. */
  beerStyle(): string;
  /** A kind of yeast. */
  beerYeast(): string;
}

/** Books. */
export interface BookFunctions {
  /** A book, whoever really wrote it. */
  book(): Book;
  /** An author. */
  bookAuthor(): string;
  /** A genre of books. */
  bookGenre(): string;
  /** The title of a book. */
  bookTitle(): string;
}

/** Brazil. */
export interface BrFunctions {
  /** A city of Brazil. */
  brCity(): string;
  /** The number of a company, with right check digits, as `11.222.333/0001-81`. `formatted` is true if not given. `alphanumeric` is false if not given. */
  brCnpj(formatted?: boolean, alphanumeric?: boolean): string;
  /** The number of a person, with right check digits, as `123.456.789-09`. `formatted` is true if not given. */
  brCpf(formatted?: boolean): string;
  /** A phone number, as `(11) 98765-4321`. `mobile` is true if not given. */
  brPhoneNumber(mobile?: boolean): string;
  /** The nine digits of an identity card. */
  brRg(): string;
  /** What buyers look for: `simple` is a thing, `compound` one with its attributes, `random` either. `mode` is random if not given. */
  brSearchTerm(mode?: string): string;
  /** A state of Brazil. */
  brState(): string;
  /** The two letters of a state of Brazil. */
  brStateAbbr(): string;
  /** A postal code, as `01310-100`. */
  brZipCode(): string;
}

/** Cars. */
export interface CarFunctions {
  /** A car, whoever really makes the model. */
  car(): Car;
  /** What a car runs on. */
  carFuelType(): string;
  /** Who makes cars. */
  carMaker(): string;
  /** A model of a car. */
  carModel(): string;
  /** A kind of transmission. */
  carTransmissionType(): string;
  /** A kind of cars. */
  carType(): string;
}

/** Famous people. */
export interface CelebrityFunctions {
  /** Somebody famous for acting. */
  celebrityActor(): string;
  /** Somebody famous for business. */
  celebrityBusiness(): string;
  /** Somebody famous for sport. */
  celebritySport(): string;
}

/** Colors. */
export interface ColorFunctions {
  /** A color, as CSS calls it. */
  color(): string;
  /** A color, as `#a99fb4`. */
  hexColor(): string;
  /** Five colors that go together: light ones of neighbouring hues. */
  niceColors(): string[];
  /** Red, green and blue, from 0 to 255. */
  rgbColor(): number[];
  /** One of the sixteen first colors of the web. */
  safeColor(): string;
}

/** Companies and jobs. */
export interface CompanyFunctions {
  /** What a company says of itself. */
  blurb(): string;
  /** A word that says little. */
  bs(): string;
  /** A word in fashion. */
  buzzword(): string;
  /** A company. */
  company(): string;
  /** What stands behind the name of a company. */
  companySuffix(): string;
  /** A job. */
  job(): Job;
  /** What stands before the title of a job. */
  jobDescriptor(): string;
  /** What a job is about. */
  jobLevel(): string;
  /** The title of a job. */
  jobTitle(): string;
  /** The slogan of a company. */
  slogan(): string;
}

/** Emoji. */
export interface EmojiFunctions {
  /** An emoji. */
  emoji(): string;
  /** A name of an emoji, as chats have it. */
  emojiAlias(): string;
  /** A group of emoji. */
  emojiCategory(): string;
  /** What an emoji shows. */
  emojiDescription(): string;
  /** A word to find emoji by. */
  emojiTag(): string;
}

/** Messages of errors. */
export interface ErrorFunctions {
  /** An error of a database. */
  databaseError(): string;
  /** Any error. */
  error(): string;
  /** What an error is about. */
  errorObjectWord(): string;
  /** An error of gRPC. */
  gRPCError(): string;
  /** What a status from 400 to 499 means. */
  httpClientError(): string;
  /** An error of HTTP. */
  httpError(): string;
  /** What a status from 500 to 599 means. */
  httpServerError(): string;
  /** An error of a running program. */
  runtimeError(): string;
  /** What is wrong with an input. */
  validationError(): string;
}

/** Names and types of files. */
export interface FileFunctions {
  /** The end of a file's name. */
  fileExtension(): string;
  /** The type of a file. */
  fileMimeType(): string;
}

/** Securities. */
export interface FinanceFunctions {
  /** The number of a security in North America, with a right check digit. */
  cusip(): string;
  /** The number of a security, with a right check digit. */
  isin(): string;
}

/** Food and drinks. */
export interface FoodFunctions {
  /** A breakfast. */
  breakfast(): string;
  /** A dessert. */
  dessert(): string;
  /** A dinner. */
  dinner(): string;
  /** A drink. */
  drink(): string;
  /** A fruit. */
  fruit(): string;
  /** A lunch. */
  lunch(): string;
  /** A snack. */
  snack(): string;
  /** A vegetable. */
  vegetable(): string;
}

/** Games. */
export interface GameFunctions {
  /** What dice show; the last number of sides holds for the dice that have none. `dice` is 1 if not given. `sides` is 6 if not given. */
  dice(dice?: number, sides?: number[]): number[];
  /** The name of a player. */
  gamertag(): string;
}

/** What hackers say. */
export interface HackerFunctions {
  /** An abbreviation. */
  hackerAbbreviation(): string;
  /** An adjective. */
  hackerAdjective(): string;
  /** A noun. */
  hackerNoun(): string;
  /** A sentence. */
  hackerPhrase(): string;
  /** A verb. */
  hackerVerb(): string;
  /** A verb that ends in -ing. */
  hackeringVerb(): string;
}

/** What hipsters say. */
export interface HipsterFunctions {
  /** Paragraphs. `paragraphs` is 2 if not given. `sentences` is 2 if not given. `words` is 5 if not given. `separator` is <br /> if not given. */
  hipsterParagraph(paragraphs?: number, sentences?: number, words?: number, separator?: string): string;
  /** A sentence. `words` is 5 if not given. */
  hipsterSentence(words?: number): string;
  /** A word. */
  hipsterWord(): string;
}

/** Addresses, accounts and requests. */
export interface InternetFunctions {
  /** The User-Agent of Chrome. */
  chromeUserAgent(): string;
  /** A domain. */
  domainName(): string;
  /** The end of a domain. */
  domainSuffix(): string;
  /** The User-Agent of Firefox. */
  firefoxUserAgent(): string;
  /** A method of HTTP. */
  httpMethod(): string;
  /** A status of HTTP. */
  httpStatusCode(): number;
  /** A frequent status of HTTP. */
  httpStatusCodeSimple(): number;
  /** A version of HTTP. */
  httpVersion(): string;
  /** Where an image of this size is. `width` is 500 if not given. `height` is 500 if not given. */
  imageUrl(width?: number, height?: number): string;
  /** The name of a field of a form. */
  inputName(): string;
  /** An IPv4 address. */
  ipv4Address(): string;
  /** An IPv6 address. */
  ipv6Address(): string;
  /** How much a line of a log matters. */
  logLevel(): string;
  /** The address of a network card. */
  macAddress(): string;
  /** The User-Agent of Opera. */
  operaUserAgent(): string;
  /** A password of these kinds of characters. `lower` is true if not given. `upper` is true if not given. `numeric` is true if not given. `special` is true if not given. `space` is false if not given. `length` is 12 if not given. */
  password(lower?: boolean, upper?: boolean, numeric?: boolean, special?: boolean, space?: boolean, length?: number): string;
  /** The User-Agent of Safari. */
  safariUserAgent(): string;
  /** A URL. */
  url(): string;
  /** The User-Agent of a browser. */
  userAgent(): string;
  /** The name of an account. */
  username(): string;
}

/** Languages. */
export interface LanguageFunctions {
  /** A language. */
  language(): string;
  /** The two letters of a language. */
  languageAbbreviation(): string;
  /** A language and where it is spoken, as `en-US`. */
  languageBcp(): string;
  /** A programming language. */
  programmingLanguage(): string;
}

/** Minecraft. */
export interface MinecraftFunctions {
  /** An animal. */
  minecraftAnimal(): string;
  /** A piece of armor. */
  minecraftArmorPart(): string;
  /** What armor is made of. */
  minecraftArmorTier(): string;
  /** A biome. */
  minecraftBiome(): string;
  /** A dye. */
  minecraftDye(): string;
  /** Food. */
  minecraftFood(): string;
  /** A boss. */
  minecraftMobBoss(): string;
  /** A mob that attacks. */
  minecraftMobHostile(): string;
  /** A mob that attacks who attacks it. */
  minecraftMobNeutral(): string;
  /** A mob that never attacks. */
  minecraftMobPassive(): string;
  /** An ore. */
  minecraftOre(): string;
  /** A tool. */
  minecraftTool(): string;
  /** The profession of a villager. */
  minecraftVillagerJob(): string;
  /** How far a villager is in its profession. */
  minecraftVillagerLevel(): string;
  /** The block where a villager works. */
  minecraftVillagerStation(): string;
  /** A weapon. */
  minecraftWeapon(): string;
  /** The weather. */
  minecraftWeather(): string;
  /** A kind of wood. */
  minecraftWood(): string;
}

/** Movies. */
export interface MovieFunctions {
  /** A movie, whatever its genre really is. */
  movie(): Movie;
  /** A genre of movies. */
  movieGenre(): string;
  /** The name of a movie. */
  movieName(): string;
}

/** Numbers. */
export interface NumbersFunctions {
  /** `true` or `false`. */
  boolean(): boolean;
  /** A number that 32 bits hold. */
  float32(): number;
  /** A number between both that 32 bits hold. */
  float32Range(min: number, max: number): number;
  /** A number. */
  float64(): number;
  /** A number between both. */
  float64Range(min: number, max: number): number;
  /** 128 bits, as `0x…`. */
  hexUint128(): string;
  /** 16 bits, as `0x…`. */
  hexUint16(): string;
  /** 256 bits, as `0x…`. */
  hexUint256(): string;
  /** 32 bits, as `0x…`. */
  hexUint32(): string;
  /** 64 bits, as `0x…`. */
  hexUint64(): string;
  /** 8 bits, as `0x…`. */
  hexUint8(): string;
  /** A whole number of 16 bits. */
  int16(): number;
  /** A whole number of 32 bits. */
  int32(): number;
  /** A whole number of 64 bits, as near as a number of JavaScript comes. */
  int64(): number;
  /** A whole number of 8 bits. */
  int8(): number;
  /** A whole number from `min` to `max`. */
  intRange(min: number, max: number): number;
  /** A whole number from `min` to `max`. `min` is -2147483648 if not given. `max` is 2147483647 if not given. */
  number(min?: number, max?: number): number;
  /** One of the numbers. */
  randomInt(numbers: number[]): number;
  /** One of the numbers. */
  randomUint(numbers: number[]): number;
  /** The numbers in another order. */
  shuffleInts(numbers: number[]): number[];
  /** A whole number from 0, of 16 bits. */
  uint16(): number;
  /** A whole number from 0, of 32 bits. */
  uint32(): number;
  /** A whole number from 0, of 64 bits, as near as a number of JavaScript comes. */
  uint64(): number;
  /** A whole number from 0, of 8 bits. */
  uint8(): number;
  /** A whole number from `min` to `max`, neither below 0. `min` is 0 if not given. `max` is 4294967295 if not given. */
  uintRange(min?: number, max?: number): number;
}

/** Cards, accounts and currencies. */
export interface PaymentFunctions {
  /** Twelve digits of an account. */
  achAccountNumber(): string;
  /** Nine digits of a bank, with a right check digit. */
  achRoutingNumber(): string;
  /** What looks like an address of Bitcoin. */
  bitcoinAddress(): string;
  /** What looks like a private key of Bitcoin. */
  bitcoinPrivateKey(): string;
  /** A card. */
  creditCard(): CreditCard;
  /** The three digits on its back. */
  creditCardCVV(): string;
  /** Until when a card is good, as `09/31`: some years from now. */
  creditCardExp(): string;
  /** The month of that, as `09`. */
  creditCardExpMonth(): string;
  /** The year of that, as `31`: some years from now. */
  creditCardExpYear(): string;
  /** The number of a card of one of these types, or of any, that begins with one of `bins` if there are any. Its check digit is right. `gaps` is false if not given. */
  creditCardNumber(types?: string[], bins?: string[], gaps?: boolean): string;
  /** The number of a card with hyphens. */
  creditCardNumberFormatted(): string;
  /** A kind of cards. */
  creditCardType(): string;
  /** A currency. */
  currency(): Currency;
  /** The name of a currency. */
  currencyLong(): string;
  /** The three letters of a currency. */
  currencyShort(): string;
  /** A price between both, with two decimals. `min` is 0 if not given. `max` is 1000 if not given. */
  price(min?: number, max?: number): number;
}

/** People. */
export interface PersonFunctions {
  /** An address of e-mail, below `example.com`: no mail reaches anybody. */
  email(): string;
  /** A first name. */
  firstName(): string;
  /** `male` or `female`. */
  gender(): string;
  /** A hobby. */
  hobby(): string;
  /** A last name. */
  lastName(): string;
  /** A middle name. */
  middleName(): string;
  /** A first and a last name. */
  name(): string;
  /** What stands before a name. */
  namePrefix(): string;
  /** What stands behind a name. */
  nameSuffix(): string;
  /** A person with all that belongs to one. */
  person(): Person;
  /** Ten digits. */
  phone(): string;
  /** A phone number with its signs. */
  phoneFormatted(): string;
  /** A school. */
  school(): string;
  /** Nine digits. */
  ssn(): string;
  /** The people in teams that differ by one at most. */
  teams(people: string[], teams: string[]): Record<string, string[]>;
}

/** Goods. */
export interface ProductFunctions {
  /** A product. */
  product(): Product;
  /** A kind of goods. */
  productCategory(): string;
  /** What a product is. */
  productDescription(): string;
  /** What is good about a product. */
  productFeature(): string;
  /** What a product is made of. */
  productMaterial(): string;
  /** The name of a product. */
  productName(): string;
  /** The twelve digits of a bar code, with a right check digit. */
  productUpc(): string;
}

/** Letters, digits and texts. */
export interface StringsFunctions {
  /** A digit. */
  digit(): string;
  /** As many digits. */
  digitN(count: number): string;
  /** A letter, large or small. */
  letter(): string;
  /** As many letters, large and small. */
  letterN(count: number): string;
  /** The text with a letter for each `?`. */
  lexify(pattern: string): string;
  /** The text with a digit for each `#`. */
  numerify(pattern: string): string;
  /** One of the texts. */
  randomString(texts: string[]): string;
  /** The texts in another order. */
  shuffleStrings(texts: string[]): string[];
  /** A UUID of version 4. */
  uuid(): string;
}

/** Dates and times. */
export interface TimeFunctions {
  /** A date from 1900 to 2025, in this format. `format` is RFC3339 if not given. */
  date(format?: string): string;
  /** A date between both, in this format. Both are as `2025-12-31` or as `2025-12-31T23:59:59Z`. `startdate` is 1970-01-01 if not given. `enddate` is 2025-12-31 if not given. `format` is yyyy-MM-dd if not given. */
  dateRange(startdate?: string, enddate?: string, format?: string): string;
  /** From 1 to 31. */
  day(): number;
  /** A time within half a day from now, as RFC 3339 has it. */
  futureTime(): string;
  /** From 0 to 23. */
  hour(): number;
  /** From 0 to 59. */
  minute(): number;
  /** From 1 to 12. */
  month(): number;
  /** The name of a month. */
  monthString(): string;
  /** From 0 to 999999999. */
  nanosecond(): number;
  /** A time within half a day before now, as RFC 3339 has it. */
  pastTime(): string;
  /** From 0 to 59. */
  second(): number;
  /** The name of a time zone. */
  timezone(): string;
  /** The letters of a time zone. */
  timezoneAbbreviation(): string;
  /** A time zone with some of its cities. */
  timezoneFull(): string;
  /** Hours from UTC. */
  timezoneOffset(): number;
  /** A time zone, as `Europe/Vienna`. */
  timezoneRegion(): string;
  /** The name of a day of the week. */
  weekday(): string;
  /** From 1900 to 2025. */
  year(): number;
}

/** Words and sentences. */
export interface WordFunctions {
  /** A verb of doing something. */
  actionVerb(): string;
  /** An adjective. */
  adjective(): string;
  /** An adverb. */
  adverb(): string;
  /** An adverb that says how much. */
  adverbDegree(): string;
  /** An adverb that says exactly how often. */
  adverbFrequencyDefinite(): string;
  /** An adverb that says about how often. */
  adverbFrequencyIndefinite(): string;
  /** An adverb that says how. */
  adverbManner(): string;
  /** Two adverbs. */
  adverbPhrase(): string;
  /** An adverb that says where. */
  adverbPlace(): string;
  /** An adverb that says exactly when. */
  adverbTimeDefinite(): string;
  /** An adverb that says about when. */
  adverbTimeIndefinite(): string;
  /** A remark. */
  comment(): string;
  /** A connective. */
  connective(): string;
  /** A connective of cause and effect. */
  connectiveCasual(): string;
  /** A connective that compares. */
  connectiveComparitive(): string;
  /** A connective that insists. */
  connectiveComplaint(): string;
  /** A connective before an example. */
  connectiveExamplify(): string;
  /** A connective of lists. */
  connectiveListing(): string;
  /** A connective of time. */
  connectiveTime(): string;
  /** An adjective that points. */
  demonstrativeAdjective(): string;
  /** An adjective that describes. */
  descriptiveAdjective(): string;
  /** A verb that helps another one. */
  helpingVerb(): string;
  /** An adjective that leaves open which. */
  indefiniteAdjective(): string;
  /** An exclamation. */
  interjection(): string;
  /** An adjective that asks. */
  interrogativeAdjective(): string;
  /** A verb without an object. */
  intransitiveVerb(): string;
  /** A verb that links a subject to what it is. */
  linkingVerb(): string;
  /** Paragraphs of Latin. `paragraphs` is 2 if not given. `sentences` is 2 if not given. `words` is 5 if not given. `separator` is <br /> if not given. */
  loremIpsumParagraph(paragraphs?: number, sentences?: number, words?: number, separator?: string): string;
  /** A sentence of Latin. `words` is 5 if not given. */
  loremIpsumSentence(words?: number): string;
  /** A Latin word. */
  loremIpsumWord(): string;
  /** A noun. */
  noun(): string;
  /** A noun for what cannot be touched. */
  nounAbstract(): string;
  /** A noun for a group of animals. */
  nounCollectiveAnimal(): string;
  /** A noun for a group of people. */
  nounCollectivePeople(): string;
  /** A noun for a group of things. */
  nounCollectiveThing(): string;
  /** A frequent noun. */
  nounCommon(): string;
  /** A noun for what can be touched. */
  nounConcrete(): string;
  /** A noun for what can be counted. */
  nounCountable(): string;
  /** A word that stands before a noun. */
  nounDeterminer(): string;
  /** A noun with its words. */
  nounPhrase(): string;
  /** A name. */
  nounProper(): string;
  /** A noun for what cannot be counted. */
  nounUncountable(): string;
  /** Paragraphs. `paragraphs` is 2 if not given. `sentences` is 2 if not given. `words` is 5 if not given. `separator` is <br /> if not given. */
  paragraph(paragraphs?: number, sentences?: number, words?: number, separator?: string): string;
  /** A saying. */
  phrase(): string;
  /** An adjective that says whose. */
  possessiveAdjective(): string;
  /** A preposition. */
  preposition(): string;
  /** A preposition of several words. */
  prepositionCompound(): string;
  /** A preposition of two prepositions. */
  prepositionDouble(): string;
  /** A preposition with its words. */
  prepositionPhrase(): string;
  /** A preposition of one word. */
  prepositionSimple(): string;
  /** A pronoun. */
  pronoun(): string;
  /** A pronoun that points. */
  pronounDemonstrative(): string;
  /** A pronoun that leaves open who. */
  pronounIndefinite(): string;
  /** A pronoun that asks. */
  pronounInterrogative(): string;
  /** A pronoun that is an object. */
  pronounObject(): string;
  /** A pronoun that is a subject. */
  pronounPersonal(): string;
  /** A pronoun that says whose. */
  pronounPossessive(): string;
  /** A pronoun that points back. */
  pronounReflective(): string;
  /** A pronoun that begins a clause. */
  pronounRelative(): string;
  /** An adjective of a name. */
  properAdjective(): string;
  /** An adjective that says how much. */
  quantitativeAdjective(): string;
  /** A question of hipsters' words. */
  question(): string;
  /** What somebody said, and who. */
  quote(): string;
  /** Words as a sentence. `words` is 5 if not given. */
  sentence(words?: number): string;
  /** A sentence that keeps to grammar. */
  simpleSentence(): string;
  /** A verb with an object. */
  transitiveVerb(): string;
  /** A verb. */
  verb(): string;
  /** A verb with its words. */
  verbPhrase(): string;
  /** A word. */
  word(): string;
}

/** The functions of all groups. */
export interface ZenFunctions extends 
  AddressFunctions,
  AnimalFunctions,
  AppFunctions,
  BeerFunctions,
  BookFunctions,
  BrFunctions,
  CarFunctions,
  CelebrityFunctions,
  ColorFunctions,
  CompanyFunctions,
  EmojiFunctions,
  ErrorFunctions,
  FileFunctions,
  FinanceFunctions,
  FoodFunctions,
  GameFunctions,
  HackerFunctions,
  HipsterFunctions,
  InternetFunctions,
  LanguageFunctions,
  MinecraftFunctions,
  MovieFunctions,
  NumbersFunctions,
  PaymentFunctions,
  PersonFunctions,
  ProductFunctions,
  StringsFunctions,
  TimeFunctions,
  WordFunctions {}

/** What a `Faker` has of each group. */
export interface Groups {
  /** Addresses and places. */
  readonly address: AddressFunctions;
  /** Animals. */
  readonly animal: AnimalFunctions;
  /** Programs. */
  readonly app: AppFunctions;
  /** Beers. */
  readonly beer: BeerFunctions;
  /** Books. */
  readonly book: BookFunctions;
  /** Brazil. */
  readonly br: BrFunctions;
  /** Cars. */
  readonly car: CarFunctions;
  /** Famous people. */
  readonly celebrity: CelebrityFunctions;
  /** Colors. */
  readonly color: ColorFunctions;
  /** Companies and jobs. */
  readonly company: CompanyFunctions;
  /** Emoji. */
  readonly emoji: EmojiFunctions;
  /** Messages of errors. */
  readonly error: ErrorFunctions;
  /** Names and types of files. */
  readonly file: FileFunctions;
  /** Securities. */
  readonly finance: FinanceFunctions;
  /** Food and drinks. */
  readonly food: FoodFunctions;
  /** Games. */
  readonly game: GameFunctions;
  /** What hackers say. */
  readonly hacker: HackerFunctions;
  /** What hipsters say. */
  readonly hipster: HipsterFunctions;
  /** Addresses, accounts and requests. */
  readonly internet: InternetFunctions;
  /** Languages. */
  readonly language: LanguageFunctions;
  /** Minecraft. */
  readonly minecraft: MinecraftFunctions;
  /** Movies. */
  readonly movie: MovieFunctions;
  /** Numbers. */
  readonly numbers: NumbersFunctions;
  /** Cards, accounts and currencies. */
  readonly payment: PaymentFunctions;
  /** People. */
  readonly person: PersonFunctions;
  /** Goods. */
  readonly product: ProductFunctions;
  /** Letters, digits and texts. */
  readonly strings: StringsFunctions;
  /** Dates and times. */
  readonly time: TimeFunctions;
  /** Words and sentences. */
  readonly word: WordFunctions;
  /** The functions of all groups. */
  readonly zen: ZenFunctions;
}
