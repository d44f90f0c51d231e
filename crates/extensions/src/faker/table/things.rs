//! Programs, beer, books, cars, colors, files, movies and goods.

use fake::locales::{Data, EN};

use super::{NUMBERS, STRING, STRINGS};
use crate::faker::make::draw::Draw;
use crate::faker::make::function::{Function, draw, pick};
use crate::faker::make::made::Made;

#[rustfmt::skip]
pub const APP: &[Function] = &[
    draw("appAuthor", STRING, "A person or a company.", |d| {
        let who = if d.coin() { "{name}" } else { "{company}" };
        d.fill(who).into()
    }),
    draw("appVersion", STRING, "A version, as `1.12.4`.",
        |d| format!("{}.{}.{}", d.whole(1, 5), d.whole(0, 20), d.whole(0, 20)).into()),
];

#[rustfmt::skip]
pub const BEER: &[Function] = &[
    draw("beerAlcohol", STRING, "Its alcohol, as `5.2%`.", |d| format!("{:.1}%", d.real(2.0, 10.0)).into()),
    draw("beerBlg", STRING, "The extract of its wort, as `12.4°Blg`.",
        |d| format!("{:.1}°Blg", d.real(5.0, 20.0)).into()),
    draw("beerIbu", STRING, "How bitter it is, as `29 IBU`.", |d| format!("{} IBU", d.whole(10, 100)).into()),
];

#[rustfmt::skip]
pub const BOOK: &[Function] = &[
    draw("book", "Book", "A book, whoever really wrote it.", |d| Made::record([
        ("title", d.word("bookTitle").into()),
        ("author", d.word("bookAuthor").into()),
        ("genre", d.word("bookGenre").into()),
    ])),
];

#[rustfmt::skip]
pub const CAR: &[Function] = &[
    draw("car", "Car", "A car, whoever really makes the model.", |d| Made::record([
        ("type", d.word("carType").into()),
        ("fuel", d.word("carFuelType").into()),
        ("transmission", d.word("carTransmissionType").into()),
        ("brand", d.word("carMaker").into()),
        ("model", d.word("carModel").into()),
        ("year", d.whole(1980, 2025).into()),
    ])),
];

#[rustfmt::skip]
pub const COLOR: &[Function] = &[
    draw("hexColor", STRING, "A color, as `#a99fb4`.", |d| format!("#{}", d.hex(6)).into()),
    draw("niceColors", STRINGS, "Five colors that go together: light ones of neighbouring hues.", nice_colors),
    draw("rgbColor", NUMBERS, "Red, green and blue, from 0 to 255.",
        |d| (0..3).map(|_| d.whole(0, 255)).collect::<Vec<_>>().into()),
];

#[rustfmt::skip]
pub const FILE: &[Function] = &[
    pick("fileExtension", EN::PATH_EXTENSIONS, "The end of a file's name."),
];

#[rustfmt::skip]
pub const MOVIE: &[Function] = &[
    draw("movie", "Movie", "A movie, whatever its genre really is.", |d| Made::record([
        ("name", d.word("movieName").into()),
        ("genre", d.word("movieGenre").into()),
    ])),
];

#[rustfmt::skip]
pub const PRODUCT: &[Function] = &[
    draw("product", "Product", "A product.", product),
    draw("productUpc", STRING, "The twelve digits of a bar code, with a right check digit.", |d| upc(d).into()),
];

/// Light colors whose hues lie 25 degrees apart.
fn nice_colors(d: &mut Draw) -> Made {
    let first = d.real(0.0, 360.0);
    let color = |hue: f64| {
        let part = |shift: f64| {
            let k = (shift + hue / 30.0) % 12.0;
            (255.0 * (0.7 - 0.25 * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0))).round() as u8
        };
        format!("#{:02x}{:02x}{:02x}", part(0.0), part(8.0), part(4.0))
    };
    (0..5).map(|index| color(first + 25.0 * f64::from(index))).collect::<Vec<_>>().into()
}

fn upc(d: &mut Draw) -> String {
    let digits = d.digits(11);
    let weighed = digits.chars().filter_map(|letter| letter.to_digit(10)).zip([3, 1].into_iter().cycle());
    let sum: u32 = weighed.map(|(digit, weight)| digit * weight).sum();
    format!("{digits}{}", (10 - sum % 10) % 10)
}

fn product(d: &mut Draw) -> Made {
    let (categories, features) = (d.whole(1, 3), d.whole(1, 3));
    Made::record([
        ("name", d.word("productName").into()),
        ("description", d.word("productDescription").into()),
        ("categories", (0..categories).map(|_| d.word("productCategory")).collect::<Vec<_>>().into()),
        ("price", d.rounded(3.0, 100.0, 2).into()),
        ("features", (0..features).map(|_| d.word("productFeature")).collect::<Vec<_>>().into()),
        ("color", d.word("safeColor").into()),
        ("material", d.word("productMaterial").into()),
        ("upc", upc(d).into()),
    ])
}
