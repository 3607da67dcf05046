//! Model checking: every state that a chart can reach.
pub(crate) mod domain;
pub(crate) mod fork;
pub(crate) mod search;
pub(crate) mod tree;

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn measure() {
        for embedded in crate::chart::embedded::CHARTS {
            let mut chart = embedded.load().unwrap_or_else(|error| panic!("{error}"));
            if let Ok(path) = std::env::var("CH") { chart = std::sync::Arc::new(crate::chart::load::from_path(std::path::Path::new(&path)).unwrap_or_else(|e| panic!("{e}"))); }
            let now = std::time::Instant::now();
            let search = search::Search::of(&chart, std::env::var("CAP").ok().and_then(|c| c.parse().ok()).unwrap_or(300_000));
            eprintln!("{} states {} arrows {} edges {} eval {} complete {} in {:?}", embedded.id, search.looked_at(), search.transitions(), search.edges.len(), search.decisions.evaluations, search.complete, now.elapsed());
            for (fault, at) in &search.faults { eprintln!("{}: {:?}", search.decisions.faults[*fault as usize], at); }
            if let Ok(want) = std::env::var("WANT") {
                let (f, v) = want.split_once('=').unwrap();
                let f = chart.context.get_index_of(f).unwrap();
                if let Some(mut s) = (0..search.states.len()).find(|s| search.value(*s, f).to_string() == v) {
                    loop {
                        let show: Vec<String> = chart.context.keys().enumerate().map(|(i, k)| format!("{k}={}", search.value(s, i))).collect();
                        eprintln!("   {s}: {}", show.join(" "));
                        let Some(p) = search.parents[s] else { break };
                        let (e, st) = &search.edges[p.edge];
                        eprintln!("{:?} fired {:?} review {:?}", search.decisions.moves[e.mover].trigger, st.fired.iter().map(|f| search.decisions.places[*f as usize].clone()).collect::<Vec<_>>(), e.review.map(|r| search.decisions.runs[r as usize].outcome.clone()));
                        s = p.from;
                    }
                }
            }
            let mut fields: Vec<_> = (0..chart.context.len()).map(|f| { let mut v: Vec<String> = (0..search.states.len()).map(|s| search.value(s, f).to_string()).collect(); v.sort(); v.dedup(); format!("{}: {}", chart.context.get_index(f).unwrap().0, v.join(" ")) }).collect();
            fields.sort();
            eprintln!("{}", fields.join("\n"));
            for (mover, (fields, known)) in search.known.iter().enumerate() { eprintln!("{:?} {} looks {:?}", search.decisions.moves[mover].trigger, known.len(), (0..chart.context.len()).filter(|f| fields.has(*f)).map(|f| chart.context.get_index(f).unwrap().0.as_str()).collect::<Vec<_>>()); }
        }
    }
}
