import faker, { Faker } from "k6/x/faker";
import { is, thrown } from "../../../../tests/lib/assert.js";

// Run with `-e XK6_FAKER_SEED=11`.
export const options = {
  scenarios: { once: { executor: "per-vu-iterations", vus: 3, iterations: 1 } },
  thresholds: { checks: ["rate == 1"] },
};

function some(faker) {
  return [faker.person.name(), faker.internet.url(), faker.numbers.intRange(1, 1e6), faker.zen.uuid(), faker.word.paragraph()];
}

const ofSeed = some(new Faker(11));

export function setup() {
  is("the variable is the seed", some(faker), ofSeed);
  is("a seed", [some(new Faker(12)), some(new Faker(12))].map((texts) => JSON.stringify(texts) === JSON.stringify(ofSeed)), [false, false]);
  is("no seed", JSON.stringify(some(new Faker())) === JSON.stringify(some(new Faker(0))), false);
  const one = new Faker(5);
  const { firstName } = one.person;
  is("three ways", [firstName(), one.zen.firstName(), one.call("FIRSTNAME")].every((name) => /^[A-Z]/.test(name)), true);
  is("one source", new Faker(5).call("firstName"), new Faker(5).person.firstName());
  is("a group is one object", [one.person === one.person, Object.keys(one.animal).length], [true, 7]);
  is("records", Object.keys(one.person.person()), [
    "first_name", "last_name", "gender", "ssn", "image", "hobby", "job", "address", "contact", "credit_card",
  ]);
  arguments_(one);
  refusals(one);
  return ofSeed;
}

function arguments_(faker) {
  is("a range", Array.from({ length: 50 }, () => faker.numbers.intRange(1, 3)).every((n) => [1, 2, 3].includes(n)), true);
  is("lists", [faker.strings.shuffleStrings(["a", "b"]).sort(), faker.numbers.randomInt([4])], [["a", "b"], 4]);
  is("teams", Object.entries(faker.person.teams(["a", "b", "c"], ["x", "y"])).map(([team, all]) => [team, all.length]), [["x", 2], ["y", 1]]);
  is("patterns", /^x-\d\d$/.test(faker.strings.numerify("x-##")) && /^[a-z]{2}!$/.test(faker.strings.lexify("??!")), true);
  is("a password", /^[A-Z]{5}$/.test(faker.internet.password(false, true, false, false, false, 5)), true);
  is("dates", [/^\d{4}-\d\d-\d\dT[\d:]{8}Z$/.test(faker.time.date()), faker.time.dateRange("2024-02-29", "2024-02-29", "dd.MM.yyyy")], [true, "29.02.2024"]);
  is("the future", new Date(faker.time.futureTime()) > new Date() && new Date(faker.time.pastTime()) < new Date(), true);
  is("a card", /^4\d{3} \d{4} \d{4} \d{4}$/.test(faker.payment.creditCardNumber(["visa"], [], true)), true);
  is("types", [typeof faker.numbers.boolean(), typeof faker.address.latitude(), faker.game.dice(2, [1]), faker.color.niceColors().length], ["boolean", "number", [1, 1], 5]);
}

function refusals(faker) {
  const groups =
    "address, animal, app, beer, book, br, car, celebrity, color, company, emoji, error, file, finance, food, game, hacker, hipster, " +
    "internet, language, minecraft, movie, numbers, payment, person, product, strings, time, word, zen";
  is("no function", thrown(() => faker.call("firstname2")), `GoError: call(): no function is called "firstname2"; "firstName" comes near. The groups are ${groups}`);
  is("missing", thrown(() => faker.strings.digitN()), "GoError: digitN(): argument 1, count, is missing, expected number");
  is("no number", thrown(() => faker.strings.digitN("x")), "GoError: digitN(): argument 1, count, is x, expected number");
  is("no list", thrown(() => faker.numbers.randomInt(5)), "GoError: randomInt(): argument 1, numbers, is 5, expected number[]");
  is("a list of others", thrown(() => faker.numbers.randomInt([5, "x"])), "GoError: randomInt(): argument 1, numbers, is a list with x, expected number[]");
  is("too many", thrown(() => faker.strings.digitN(1e9)), "GoError: digitN(): argument 1 is 1000000000, expected a number from 0 to 1000000");
  is("a range", thrown(() => faker.numbers.intRange(2, 1)), "GoError: intRange(): found the range from 2 to 1, expected the smaller number first");
  is("a seed", thrown(() => new Faker("x")), "GoError: new Faker(): the seed is NaN, expected a whole number");
  is("nobody's", thrown(() => faker.call.call({}, "city")), "TypeError: this belongs to a Faker: use it on one");
}

export default function (texts) {
  is("each user begins so", some(faker), texts);
}
