//! Collectives of a step: bytes over the links of a rank, and their time.
//!
//! An all-reduce of n ranks moves 2(n - 1)/n of its payload over each rank's link (ring), once the payload where the
//! switch adds up; a gather or scatter (n - 1)/n of the whole. A group that spans nodes reduces inside nodes first, and
//! moves between them what is left to each rank.
//!
//! Tokens of several data-parallel ranks meet in the experts in one of two ways:
//!
//! - **whole**: every rank gathers the tokens of all others, and the sums of what its experts give are scattered back,
//!   then reduced as any layer is;
//! - **sliced**, where experts are spread: the ranks of a tensor-parallel group have the same tokens, so that each sends
//!   its share, once to every rank that has an expert of a token, to another node once for all of its ranks. The
//!   all-reduce before is left at its first half, a scatter, and its second half, the gather, follows the experts: the
//!   all-reduce after them falls away.
//!
//! With routing that is uniform and experts spread over n parts, a token that goes to k of E experts is needed in each
//! part with a chance of 1 - (1 - 1/n)^k. The way that takes less time counts.

use crate::batch::Batch;
use crate::estimate::Scope;
use crate::estimate::physical::{Drafting, Physical, load::Load, stages};
use crate::hardware::Accelerator;
use crate::model::anatomy::{Kind, Op, Span};
use crate::step::preset::Preset;
use crate::units::{BytesPerSecond, Seconds};

/// The links of a deployment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Links {
    /// Inside a node, one way, for each GPU.
    pub inside: Option<BytesPerSecond>,
    /// Between nodes, one way, for each GPU.
    pub between: Option<BytesPerSecond>,
    /// GPUs of a node.
    pub node: u64,
    /// Whether the switch adds up.
    pub in_switch: bool,
    /// The part of collectives that runs beside operations, 0 to 1.
    pub overlap: f64,
}

impl Links {
    /// The links of an accelerator, in nodes of its usual size or of `node` GPUs.
    #[must_use]
    pub fn of(accelerator: &Accelerator, node: Option<u32>) -> Self {
        let usual = accelerator.gpus_per_node.unwrap_or(1);
        Self {
            inside: accelerator.scale_up,
            between: accelerator.nic,
            node: u64::from(node.unwrap_or(usual).max(1)),
            in_switch: false,
            overlap: 0.0,
        }
    }

    /// The GPUs of a group that share a node, and the nodes of the group.
    fn split(&self, group: Group) -> (u64, u64) {
        let node = self.node.max(1);
        let inside = if group.each < node {
            group.each.max(1) * (node / group.apart.max(1)).clamp(1, group.runs.max(1))
        } else {
            node
        };
        (inside, group.ranks().div_ceil(inside))
    }

    /// Whether a stage of so many GPUs and the next one stand in several nodes.
    fn crosses(&self, stage: u64, gpus: u64) -> bool {
        let node = self.node.max(1);
        let last = stage.saturating_add(2).saturating_mul(gpus).saturating_sub(1);
        stage.saturating_mul(gpus) / node != last / node
    }

    /// Time of so many bytes inside and between nodes.
    #[must_use]
    pub fn time(&self, inside: f64, between: f64) -> Seconds {
        let over = |bytes: f64, link: Option<BytesPerSecond>| match link {
            Some(link) if link.0 > 0.0 => bytes / link.0,
            _ => 0.0,
        };
        // Without a link inside the node everything goes over the other one.
        let (inside, between) = if self.inside.is_some() { (inside, between) } else { (0.0, inside + between) };
        Seconds(over(inside, self.inside) + over(between, self.between))
    }
}

/// The ranks of a collective: so many runs of GPUs that stand next to each other, from the start of a run to the start
/// of the next one so many `apart`. As in vLLM tensor-parallel ranks stand next to each other, then the pipeline's
/// stages, then data-parallel ranks.
#[derive(Clone, Copy, Debug)]
struct Group {
    runs: u64,
    each: u64,
    apart: u64,
}

impl Group {
    fn new(runs: u64, each: u64, apart: u64) -> Self {
        if each == apart {
            Self { runs: 1, each: runs.saturating_mul(each), apart: 1 }
        } else {
            Self { runs, each, apart }
        }
    }

    fn ranks(self) -> u64 {
        self.runs.saturating_mul(self.each).max(1)
    }
}

/// A collective, over the layers of a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collective {
    /// What it is: `all-reduce after attention and FFN`.
    pub name: &'static str,
    /// Ranks that take part.
    pub ranks: u64,
    /// How often it runs in a step.
    pub times: u64,
    /// Bytes of the tensor, each time.
    pub payload: f64,
    /// Bytes over a rank's link inside the node, all times together.
    pub inside: f64,
    /// Bytes over its link to other nodes.
    pub between: f64,
    /// At least so long.
    pub time: Seconds,
    /// Steps of all times together, each of which waits for the one before.
    pub steps: f64,
}

impl Collective {
    /// As a preset has it.
    #[must_use]
    pub fn with(&self, preset: &Preset) -> Seconds {
        preset.transfer(self.time, self.steps)
    }
}

/// Bytes that a rank sends to experts, or gets back from them.
#[derive(Clone, Copy, Debug, Default)]
struct Travel {
    /// Where every rank needs all tokens.
    whole: f64,
    /// Where it sends its share to the ranks that need it.
    sliced: f64,
    /// Of those, to other nodes.
    far: f64,
}

/// The collectives of a rank of a stage.
#[must_use]
pub fn of(physical: &Physical, batch: &Batch, stage: u64, links: &Links) -> Vec<Collective> {
    let anatomy = physical.anatomy();
    let cut = physical.cut(Scope::PerGpu);
    let count = physical.stages();
    let (from, to) = stages::layers(anatomy.layers(), count, stage);
    let bytes = physical.dtype.bytes() as f64;
    let tokens = Load::of(batch, Span::Full, |_| true).tokens as f64;
    let row = tokens * anatomy.hidden as f64 * bytes;
    let tensor = Group::new(1, cut.tp, 1);
    let counts = anatomy.counts(from, to);
    let all: u64 = anatomy.kinds.iter().zip(&counts).map(|(kind, layers)| kind.reduces * layers).sum();
    let (travels, fewer) = travels(physical, anatomy.kinds.iter().zip(counts), tokens, links);
    let mut found = Vec::new();
    if cut.tp > 1 {
        let reduce = |name, times: u64| reduce(links, name, tensor, times, row);
        let reduces = all.saturating_sub(fewer);
        if reduces > 0 {
            found.push(reduce("all-reduce after attention and FFN", reduces));
        }
        if stage == 0 {
            found.push(reduce("all-reduce of the embedding", 1));
        }
        if stage + 1 == count
            && let Some(head) = &anatomy.head
        {
            let logits = Load::logits(batch) as f64 * head.out(1) as f64 * bytes;
            found.push(gather(links, "gather of logits", tensor, 1, logits * (cut.tp - 1) as f64 / cut.tp as f64));
        }
    }
    found.extend(travels);
    if stage + 1 < count {
        // Hidden state and residual, or the streams that are both, a slice from each rank.
        let tensors = if anatomy.streams > 1 { anatomy.streams } else { 2 };
        let sent = tensors as f64 * row / cut.tp as f64;
        let ways = if links.crosses(stage, cut.tp) { (0.0, sent) } else { (sent, 0.0) };
        found.push(moved(links, "to the next stage", 2, 1, ways));
    }
    if stage > 0 && cut.tp > 1 {
        // The slices come together again.
        let tensors = if anatomy.streams > 1 { anatomy.streams } else { 2 };
        let others = (cut.tp - 1) as f64 / cut.tp as f64;
        found.push(gather(links, "gather from the stage before", tensor, 1, tensors as f64 * row * others));
    }
    found
}

/// The collectives of a draft step: those of its layer, of the embedding of its tokens, and of the logits of each request.
#[must_use]
pub fn of_draft(physical: &Physical, batch: &Batch, drafting: Drafting, links: &Links) -> Vec<Collective> {
    let (anatomy, tp) = (physical.anatomy(), physical.cut(Scope::PerGpu).tp);
    let Some(mtp) = &anatomy.mtp else { return Vec::new() };
    let (tensor, bytes) = (Group::new(1, tp, 1), physical.dtype.bytes() as f64);
    let tokens = Load::of(&drafting.tokens(batch), Span::Full, |_| true).tokens as f64;
    let (mut found, fewer) = travels(physical, std::iter::once((&mtp.kind, 1)), tokens, links);
    if tp > 1 {
        let times = mtp.kind.reduces.saturating_sub(fewer) + 1;
        found.push(reduce(links, "all-reduces of a draft", tensor, times, tokens * anatomy.hidden as f64 * bytes));
        if let Some(head) = &anatomy.head {
            let logits = Load::logits(&Drafting::Further.tokens(batch)) as f64 * head.out(1) as f64 * bytes;
            let others = logits * (tp - 1) as f64 / tp as f64;
            found.push(gather(links, "gather of a draft's logits", tensor, 1, others));
        }
    }
    found
}

/// How tokens get to the experts of other data-parallel ranks and back, in so many layers of each kind, and the
/// all-reduces that fall away.
fn travels<'a>(
    physical: &Physical,
    kinds: impl Iterator<Item = (&'a Kind, u64)>,
    tokens: f64,
    links: &Links,
) -> (Vec<Collective>, u64) {
    let anatomy = physical.anatomy();
    let cut = physical.cut(Scope::PerGpu);
    let bytes = physical.dtype.bytes() as f64;
    let apart = cut.tp.saturating_mul(physical.stages());
    let (replicas, spread) = (Group::new(cut.dp, 1, apart), Group::new(cut.dp, cut.tp, apart));
    let nodes = links.split(spread).1;
    let mut times = 0;
    let mut travels = [("dispatch to experts", Travel::default()), ("combine from experts", Travel::default())];
    for (kind, layers) in kinds {
        let Some(experts) = kind.experts.filter(|_| cut.dp > 1 && layers > 0) else { continue };
        times += layers;
        // They go out as the experts multiply them, and come back as activations.
        let element = kind
            .of(Op::RoutedUp)
            .map(|matrix| physical.input_bytes(physical.format(matrix)).as_f64())
            .fold(bytes, f64::min);
        for ((_, travel), element) in travels.iter_mut().zip([element, bytes]) {
            let all = tokens * experts.width as f64 * element * layers as f64;
            let share = all / cut.tp as f64;
            travel.whole += all * (cut.dp - 1) as f64;
            travel.sliced += share * experts.elsewhere(spread.ranks());
            travel.far += share * experts.elsewhere(nodes);
        }
    }
    if times == 0 {
        return (Vec::new(), 0);
    }
    let whole = travels.map(|(name, travel)| gather(links, name, replicas, times, travel.whole));
    if !physical.settings.layout.ep {
        return (whole.into(), 0);
    }
    let sliced = travels.map(|(name, travel)| {
        let near = (travel.sliced - travel.far).max(0.0);
        moved(links, name, spread.ranks(), times, (near, travel.far))
    });
    let time = |way: &[Collective]| way.iter().map(|one| one.time.0).sum::<f64>();
    let row = tokens * anatomy.hidden as f64 * bytes;
    let saved = reduce(links, "", Group::new(1, cut.tp, 1), times, row).time.0;
    if time(&sliced) <= time(&whole) + saved { (sliced.into(), times) } else { (whole.into(), 0) }
}

/// An all-reduce of a payload, so many times.
fn reduce(links: &Links, name: &'static str, group: Group, times: u64, payload: f64) -> Collective {
    let ranks = group.ranks();
    let (inside, nodes) = links.split(group);
    let ring = |n: u64| if n > 1 { 2.0 * (n - 1) as f64 / n as f64 } else { 0.0 };
    let factor = if links.in_switch { ring(inside).min(1.0) } else { ring(inside) };
    let repeated = times as f64;
    let (near, far) = (factor * payload * repeated, ring(nodes) * payload / inside as f64 * repeated);
    // Round the ring of a node twice, or up to its switch and down again; then between nodes.
    let near_steps = if links.in_switch { 2 * u64::from(inside > 1) } else { 2 * (inside - 1) };
    let steps = (near_steps + 2 * (nodes - 1)) as f64 * repeated;
    Collective { name, ranks, times, payload, inside: near, between: far, time: links.time(near, far), steps }
}

/// A gather or scatter that moves so many bytes over a rank's links in all, as many for each of its peers. What comes
/// from other nodes comes to a node once, a share over each of its links.
fn gather(links: &Links, name: &'static str, group: Group, times: u64, bytes: f64) -> Collective {
    let ranks = group.ranks();
    let (inside, nodes) = links.split(group);
    // Of a rank's peers, those in other nodes.
    let others = if nodes > 1 { ranks - inside } else { 0 };
    let far = bytes * others as f64 / (ranks - 1).max(1) as f64 / inside as f64;
    // Round the ring of a node once, then between nodes.
    Collective {
        steps: ((inside - 1 + nodes - 1) * times) as f64,
        ..moved(links, name, ranks, times, (bytes - far, far))
    }
}

/// A collective that moves so many bytes over a rank's links inside and between nodes in all.
fn moved(links: &Links, name: &'static str, ranks: u64, times: u64, (near, far): (f64, f64)) -> Collective {
    let payload = if times > 0 { (near + far) / times as f64 } else { 0.0 };
    Collective {
        name,
        ranks,
        times,
        payload,
        inside: near,
        between: far,
        time: links.time(near, far),
        steps: times as f64,
    }
}
