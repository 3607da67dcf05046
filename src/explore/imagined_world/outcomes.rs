//! The values of conditions and texts, from the values of their parts, each of which is evaluated by itself.

use super::ImaginedWorld;
use super::question::{Kind, Question};
use crate::explore::answer::Answer;
use crate::expr::formula::Formula;
use crate::expr::pieces::Piece;
use crate::expr::single_expression;
use minijinja::value::Value;
use std::sync::Arc;

impl ImaginedWorld {
    /// Returns the value of an expression that is evaluated by itself; `None` where it must be evaluated here. An
    /// answer that is not known yet is guessed: the tree has no way behind it unless it is right.
    pub(super) fn outcome(&self, kind: Kind, source: &str) -> Option<Arc<Answer>> {
        let question = Question::Outcome {
            kind,
            source: source.to_owned(),
        };
        let answer = self.known(&question).unwrap_or_else(|| {
            let known = self.answer_to(|asked| *asked == question);
            let answer = known.map_or_else(|| Arc::new(true.into()), Arc::clone);
            self.note(question, Arc::clone(&self.ground.none), &answer);
            answer
        });
        (!matches!(*answer, Answer::Fails(_))).then_some(answer)
    }

    /// Returns what is known of an expression that is evaluated by itself; `None` where it must be evaluated here.
    pub(super) fn recalled(&self, kind: Kind, source: &str, root: &Value) -> Option<Arc<Answer>> {
        let is_separate = self.part.is_some() && self.ground.is_separate(kind, source, root);
        is_separate.then(|| self.outcome(kind, source)).flatten()
    }

    /// Returns true where a text can be made of these pieces.
    fn are_made(&self, pieces: &[Piece]) -> bool {
        pieces.iter().all(|piece| match piece {
            Piece::Hole(hole) => self.outcome(Kind::Text, hole).is_some(),
            Piece::If(test, then, otherwise) => self
                .truth(test)
                .is_some_and(|holds| self.are_made(if holds { then } else { otherwise })),
        })
    }

    /// Returns true where a text can be made of what it consists of; `None` where it must be evaluated as a whole.
    pub(crate) fn text_of_pieces(&self, source: &str) -> Option<bool> {
        let pieces = self.ground.pieces(source);
        let is_apart = !pieces.iter().any(|piece| piece.has(source));
        (is_apart && self.are_made(&pieces)).then_some(true)
    }

    /// Returns whether a condition holds, from the values of its parts; `None` where it must be evaluated as a whole.
    pub(crate) fn condition_of_parts(&self, source: &str) -> Option<bool> {
        let is_separate = self
            .ground
            .is_separate(Kind::Condition, source, &Value::UNDEFINED);
        if !is_separate {
            return None;
        }
        match &*self.ground.formula(source) {
            Formula::Atom(atom) => self.condition_of_parts(&self.ground.chart.lets.get(atom)?.0),
            formula => self.truth(formula),
        }
    }

    /// Returns whether a formula holds; `None` where it must be evaluated as a whole.
    fn truth(&self, formula: &Formula) -> Option<bool> {
        match formula {
            Formula::Atom(source) => self
                .outcome(Kind::Condition, source)
                .map(|holds| *holds == true.into()),
            Formula::Not(inner) => self.truth(inner).map(|holds| !holds),
            Formula::All(parts) => self.is_every(parts, true),
            Formula::Any(parts) => self.is_every(parts, false).map(|holds| !holds),
        }
    }

    /// Returns true where all are like this; what follows one that is not is not evaluated.
    fn is_every(&self, parts: &[Formula], like: bool) -> Option<bool> {
        for part in parts {
            if self.truth(part)? != like {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Returns true where a text that is nothing but a prompt can be made, by what fills its holes; `None` where it
    /// must be evaluated as a whole. A user's prompt has every hole there is.
    pub(crate) fn prompt(&self, source: &str) -> Option<bool> {
        let key = single_expression(source)?.strip_prefix("prompts")?;
        let quoted = || key.strip_prefix("['")?.strip_suffix("']");
        let name = key.strip_prefix('.').or_else(quoted)?;
        let prompts = &self.ground.chart.prompts;
        let mut holes = (prompts.vars.values()).map(|expr| format!("{{{{ {} }}}}", expr.0));
        let is_made = prompts.names.iter().any(|known| known == name)
            && holes.all(|hole| self.are_made(&self.ground.pieces(&hole)));
        is_made.then_some(true)
    }
}
