//! What makes the members of a campaign search the same program: the *build*.

use std::fmt;

/// The parts of a build, by their names, in order: the executable, its libraries, the options
/// that change what an input means, the grammar. All members have the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    /// The name of each part for people, and what it is: a hash, or the value of an option.
    pub parts: Vec<(String, String)>,
}

/// How the build of a member differs from that of its campaign, as one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub part: String,
    /// What the campaign has; `None` if it does not have the part.
    pub campaign: Option<String>,
    pub member: Option<String>,
}

impl Build {
    pub fn add(&mut self, part: impl Into<String>, value: impl Into<String>) {
        self.parts.push((part.into(), value.into()));
    }

    pub fn get(&self, part: &str) -> Option<&str> {
        self.parts.iter().find(|(name, _)| name == part).map(|(_, value)| &value[..])
    }

    /// The first part of this build, which a member has, that is not as in that of its
    /// campaign.
    pub fn difference(&self, campaign: &Build) -> Option<Difference> {
        let names = self.parts.iter().chain(&campaign.parts).map(|(name, _)| name);
        names
            .map(|part| Difference {
                part: part.clone(),
                campaign: campaign.get(part).map(str::to_string),
                member: self.get(part).map(str::to_string),
            })
            .find(|difference| difference.campaign != difference.member)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let part = &self.part;
        match (&self.campaign, &self.member) {
            (Some(campaign), Some(member)) => write!(
                f,
                "{part} {} of the campaign (here {}, there {})",
                match part.ends_with("arguments") {
                    true => "differ from those",
                    false => "differs from that",
                },
                shown(member),
                shown(campaign)
            ),
            (Some(_), None) => write!(f, "the campaign has {part}, and this member does not"),
            (None, _) => write!(f, "this member has {part}, and the campaign does not"),
        }
    }
}

fn shown(value: &str) -> &str {
    if value.is_empty() { "none" } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        let build = |parts: &[(&str, &str)]| {
            let mut build = Build::default();
            parts.iter().for_each(|(part, value)| build.add(*part, *value));
            build
        };
        let campaign = build(&[("the executable", "aa"), ("libz.so", "bb")]);
        assert_eq!(campaign.difference(&campaign), None);
        let told = |parts: &[(&str, &str)]| {
            build(parts).difference(&campaign).map(|difference| difference.to_string())
        };
        assert_eq!(
            told(&[("the executable", "ab"), ("libz.so", "bb")]).as_deref(),
            Some("the executable differs from that of the campaign (here ab, there aa)")
        );
        assert_eq!(
            told(&[("the executable", "aa")]).as_deref(),
            Some("the campaign has libz.so, and this member does not")
        );
        assert_eq!(
            told(&[("the executable", "aa"), ("libz.so", "bb"), ("--tty", "80x25")]).as_deref(),
            Some("this member has --tty, and the campaign does not")
        );
    }
}
