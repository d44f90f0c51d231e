//! People, companies and jobs.

use fake::locales::{Data, EN};

use super::{STRING, payment, places};
use crate::faker::make::draw::Draw;
use crate::faker::make::function::{ArgumentList, Function, ParameterKind, draw, pick, required, with};
use crate::faker::make::made::Made;

#[rustfmt::skip]
pub const COMPANY: &[Function] = &[
    pick("bs", EN::COMPANY_BS_ADJ, "A word that says little."),
    pick("buzzword", EN::COMPANY_BUZZWORD_HEAD, "A word in fashion."),
    draw("company", STRING, "A company.", |d| d.fill("{lastName} {companySuffix}").into()),
    pick("companySuffix", EN::COMPANY_SUFFIX, "What stands behind the name of a company."),
    draw("job", "Job", "A job.", job),
    pick("jobDescriptor", EN::JOB_SENIORITY, "What stands before the title of a job."),
    pick("jobLevel", EN::JOB_FIELD, "What a job is about."),
    pick("jobTitle", EN::JOB_POSITION, "The title of a job."),
];

#[rustfmt::skip]
pub const PERSON: &[Function] = &[
    draw("email", STRING, "An address of e-mail, below `example.com`: no mail reaches anybody.", |d| email(d).into()),
    pick("firstName", EN::NAME_FIRST_NAME, "A first name."),
    pick("lastName", EN::NAME_LAST_NAME, "A last name."),
    pick("middleName", EN::NAME_FIRST_NAME, "A middle name."),
    draw("name", STRING, "A first and a last name.", |d| d.fill("{firstName} {lastName}").into()),
    pick("namePrefix", EN::NAME_TITLE, "What stands before a name."),
    pick("nameSuffix", EN::NAME_SUFFIX, "What stands behind a name."),
    draw("person", "Person", "A person with all that belongs to one.", person),
    draw("phone", STRING, "Ten digits.", |d| d.numerify("^##^######").into()),
    draw("phoneFormatted", STRING, "A phone number with its signs.", |d| {
        let pattern = d.pick(EN::PHONE_CELL_NUMBER_FORMATS);
        d.numerify(pattern).into()
    }),
    draw("ssn", STRING, "Nine digits.", |d| d.numerify("^########").into()),
    with("teams", &[required("people", ParameterKind::Texts), required("teams", ParameterKind::Texts)],
        "Record<string, string[]>", "The people in teams that differ by one at most.", teams),
];

/// The domain is reserved for examples, because a load test may well make its target write to it.
fn email(d: &mut Draw) -> String {
    let who = d.fill("{firstName}{lastName}").replace(['\'', ' '], "");
    d.fill(&format!("{who}@{{firstPart}}{{secondPart}}.example.com")).to_lowercase()
}

fn job(d: &mut Draw) -> Made {
    Made::record([
        ("company", d.fill("{company}").into()),
        ("title", d.pick(EN::JOB_POSITION).into()),
        ("descriptor", d.pick(EN::JOB_SENIORITY).into()),
        ("level", d.pick(EN::JOB_FIELD).into()),
    ])
}

fn person(d: &mut Draw) -> Made {
    Made::record([
        ("first_name", d.pick(EN::NAME_FIRST_NAME).into()),
        ("last_name", d.pick(EN::NAME_LAST_NAME).into()),
        ("gender", d.word("gender").into()),
        ("ssn", d.numerify("^########").into()),
        ("image", format!("https://picsum.photos/{}/{}", d.whole(200, 500), d.whole(200, 500)).into()),
        ("hobby", d.word("hobby").into()),
        ("job", job(d)),
        ("address", places::address(d)),
        ("contact", Made::record([("phone", d.numerify("^##^######").into()), ("email", email(d).into())])),
        ("credit_card", payment::card(d)),
    ])
}

fn teams(d: &mut Draw, given: &ArgumentList) -> Result<Made, String> {
    let (mut people, teams) = (given.texts(0).to_vec(), given.texts(1));
    if teams.is_empty() {
        return Err(String::from("there are no teams, expected at least one"));
    }
    d.shuffle(&mut people);
    let mut members: Vec<(String, Vec<String>)> = teams.iter().map(|team| (team.clone(), Vec::new())).collect();
    for (index, one) in people.into_iter().enumerate() {
        members[index % teams.len()].1.push(one);
    }
    Ok(Made::Record(members.into_iter().map(|(team, people)| (team, people.into())).collect()))
}
