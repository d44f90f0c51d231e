//! Animals, food, beer, and the world of Minecraft.

use super::STRING;
use crate::faker::make::function::{Function, draw, word};

#[rustfmt::skip]
pub const ANIMAL: &[Function] = &[
    word("animal", "An animal."),
    word("animalType", "A class of animals."),
    word("bird", "A bird."),
    word("cat", "A breed of cats."),
    word("dog", "A breed of dogs."),
    word("farmAnimal", "An animal of a farm."),
    word("petName", "The name of a pet."),
];

#[rustfmt::skip]
pub const BEER: &[Function] = &[
    draw("beerAlcohol", STRING, "Its alcohol, as `5.2%`.", |d| format!("{:.1}%", d.real(2.0, 10.0)).into()),
    draw("beerBlg", STRING, "The extract of its wort, as `12.4°Blg`.",
        |d| format!("{:.1}°Blg", d.real(5.0, 20.0)).into()),
    word("beerHop", "A kind of hop."),
    draw("beerIbu", STRING, "How bitter it is, as `29 IBU`.", |d| format!("{} IBU", d.whole(10, 100)).into()),
    word("beerMalt", "A kind of malt."),
    word("beerName", "The name of a beer."),
    word("beerStyle", "A kind of beer."),
    word("beerYeast", "A kind of yeast."),
];

#[rustfmt::skip]
pub const FOOD: &[Function] = &[
    word("breakfast", "A breakfast."),
    word("dessert", "A dessert."),
    word("dinner", "A dinner."),
    word("drink", "A drink."),
    word("fruit", "A fruit."),
    word("lunch", "A lunch."),
    word("snack", "A snack."),
    word("vegetable", "A vegetable."),
];

#[rustfmt::skip]
pub const MINECRAFT: &[Function] = &[
    word("minecraftAnimal", "An animal."),
    word("minecraftArmorPart", "A piece of armor."),
    word("minecraftArmorTier", "What armor is made of."),
    word("minecraftBiome", "A biome."),
    word("minecraftDye", "A dye."),
    word("minecraftFood", "Food."),
    word("minecraftMobBoss", "A boss."),
    word("minecraftMobHostile", "A mob that attacks."),
    word("minecraftMobNeutral", "A mob that attacks who attacks it."),
    word("minecraftMobPassive", "A mob that never attacks."),
    word("minecraftOre", "An ore."),
    word("minecraftTool", "A tool."),
    word("minecraftVillagerJob", "The profession of a villager."),
    word("minecraftVillagerLevel", "How far a villager is in its profession."),
    word("minecraftVillagerStation", "The block where a villager works."),
    word("minecraftWeapon", "A weapon."),
    word("minecraftWeather", "The weather."),
    word("minecraftWood", "A kind of wood."),
];
