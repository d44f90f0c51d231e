//! Which partition a message goes to, and how the members of a group share partitions. Pure.

use std::collections::BTreeMap;

/// How messages are spread over the partitions of their topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Balancer {
    /// One after the other.
    RoundRobin,
    /// The one that has got the fewest bytes.
    LeastBytes,
    /// By the key, FNV-1a, as kafka-go does.
    Hash,
    /// By the key, as librdkafka does.
    Crc32,
    /// By the key, as Java's client does.
    Murmur2,
}

impl Balancer {
    /// What the name of an option means.
    pub fn named(name: &str) -> Option<Balancer> {
        match name {
            "" | "balancer_roundrobin" => Some(Balancer::RoundRobin),
            "balancer_leastbytes" => Some(Balancer::LeastBytes),
            "balancer_hash" => Some(Balancer::Hash),
            "balancer_crc32" => Some(Balancer::Crc32),
            "balancer_murmur2" => Some(Balancer::Murmur2),
            _ => None,
        }
    }
}

/// What a balancer remembers of a topic.
#[derive(Clone, Debug, Default)]
pub struct Spread {
    turn: usize,
    bytes: Vec<u64>,
}

impl Spread {
    /// The number of the partition among so many.
    pub fn choose(&mut self, balancer: Balancer, key: Option<&[u8]>, size: usize, count: usize) -> usize {
        let count = count.max(1);
        match (balancer, key) {
            (Balancer::LeastBytes, _) => {
                self.bytes.resize(count, 0);
                let least = (0..count).min_by_key(|index| self.bytes[*index]).unwrap_or(0);
                self.bytes[least] += size as u64;
                least
            }
            // The remainder of the signed hash, without its sign.
            (Balancer::Hash, Some(key)) => (fnv1a(key) as i32 % count as i32).unsigned_abs() as usize,
            (Balancer::Crc32, Some(key)) => crc32fast::hash(key) as usize % count,
            (Balancer::Murmur2, Some(key)) => (murmur2(key) & 0x7fff_ffff) as usize % count,
            // Without a key there is nothing to choose by.
            _ => {
                let chosen = self.turn % count;
                self.turn = self.turn.wrapping_add(1);
                chosen
            }
        }
    }
}

fn fnv1a(key: &[u8]) -> u32 {
    key.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// MurmurHash2 with the seed of Kafka's own client.
fn murmur2(key: &[u8]) -> u32 {
    const M: u32 = 0x5bd1_e995;
    let mut hash = 0x9747_b28c ^ key.len() as u32;
    let (words, rest) = key.as_chunks::<4>();
    for word in words {
        let mut k = u32::from_le_bytes(*word).wrapping_mul(M);
        k ^= k >> 24;
        hash = hash.wrapping_mul(M) ^ k.wrapping_mul(M);
    }
    if !rest.is_empty() {
        for (index, byte) in rest.iter().enumerate() {
            hash ^= u32::from(*byte) << (8 * index);
        }
        hash = hash.wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    hash ^ (hash >> 15)
}

/// The partitions of each member: by topic.
pub type Shares = BTreeMap<String, BTreeMap<String, Vec<i32>>>;

/// How the leader of a group shares partitions among its members, who want these topics.
pub fn share(protocol: &str, members: &BTreeMap<String, Vec<String>>, topics: &BTreeMap<String, Vec<i32>>) -> Shares {
    let mut shares: Shares = members.keys().map(|member| (member.clone(), BTreeMap::new())).collect();
    let mut give = |member: &String, topic: &String, partition: i32| {
        let of_member = shares.get_mut(member).expect("each member has a share");
        of_member.entry(topic.clone()).or_default().push(partition);
    };
    let mut turn = 0;
    for (topic, partitions) in topics {
        let wanting: Vec<&String> =
            members.iter().filter(|(_, wanted)| wanted.contains(topic)).map(|(member, _)| member).collect();
        if wanting.is_empty() {
            continue;
        }
        for (index, partition) in partitions.iter().enumerate() {
            let member = match protocol {
                "roundrobin" => {
                    turn += 1;
                    wanting[(turn - 1) % wanting.len()]
                }
                // Runs of neighbours; the first members have one more where they do not come out even.
                _ => {
                    let (each, more) = (partitions.len() / wanting.len(), partitions.len() % wanting.len());
                    let first = more * (each + 1);
                    wanting[if index < first { index / (each + 1) } else { more + (index - first) / each.max(1) }]
                }
            };
            give(member, topic, *partition);
        }
    }
    let given = shares.values().flat_map(BTreeMap::values).map(Vec::len).sum::<usize>();
    let is_wanted = |topic: &String| members.values().any(|wanted| wanted.contains(topic));
    let wanted = topics.iter().filter(|(topic, _)| is_wanted(topic)).map(|(_, partitions)| partitions.len());
    assert_eq!(given, wanted.sum::<usize>(), "each partition of a wanted topic has one member");
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_partitions_that_other_clients_give_them() {
        // From the tests that Kafka's own client publishes.
        for (key, hash) in [("21", -973_932_308), ("foobar", -790_332_482), ("abc", 479_470_107)] {
            assert_eq!(murmur2(key.as_bytes()) as i32, hash, "{key}");
        }
        // The check values of the two algorithms.
        assert_eq!(crc32fast::hash(b"123456789"), 0xcbf4_3926);
        assert_eq!(fnv1a(b"foobar"), 0xbf9c_f968);
    }

    #[test]
    fn messages_are_spread() {
        let chosen = |balancer, key: Option<&[u8]>| {
            let mut spread = Spread::default();
            (0..4).map(|n| spread.choose(balancer, key, if n == 0 { 100 } else { 10 }, 3)).collect::<Vec<_>>()
        };
        assert_eq!(chosen(Balancer::RoundRobin, Some(b"k")), [0, 1, 2, 0]);
        assert_eq!(chosen(Balancer::LeastBytes, None), [0, 1, 2, 1]);
        assert_eq!(chosen(Balancer::Murmur2, None), [0, 1, 2, 0]);
        let one = chosen(Balancer::Murmur2, Some(b"21"))[0];
        assert_eq!(chosen(Balancer::Murmur2, Some(b"21")), [one; 4]);
        assert_eq!(one, ((-973_932_308_i32 as u32 & 0x7fff_ffff) % 3) as usize);
    }

    #[test]
    fn members_share_partitions() {
        let members = BTreeMap::from([
            (String::from("a"), vec![String::from("t"), String::from("u")]),
            (String::from("b"), vec![String::from("t")]),
        ]);
        let topics = BTreeMap::from([(String::from("t"), vec![0, 1, 2]), (String::from("u"), vec![0])]);
        let shares = share("range", &members, &topics);
        assert_eq!(shares["a"], BTreeMap::from([("t".into(), vec![0, 1]), ("u".into(), vec![0])]));
        assert_eq!(shares["b"], BTreeMap::from([("t".into(), vec![2])]));
        let shares = share("roundrobin", &members, &topics);
        assert_eq!(shares["a"]["t"], [0, 2]);
        assert_eq!(shares["b"]["t"], [1]);
        let many = BTreeMap::from([(String::from("t"), vec![0])]);
        let shares = share("range", &members, &many);
        assert_eq!((shares["a"]["t"].clone(), shares["b"].len()), (vec![0], 0));
    }
}
