//! The values of expressions that are evaluated by themselves, and whether texts can be made of such parts.

use super::ImaginedWorld;
use super::question::{Kind, Question};
use crate::explore::answer::Answer;
use crate::expr::pieces::Piece;
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
            Piece::If(test, then, otherwise) => {
                let holds = self.outcome(Kind::Condition, test);
                let side = |holds: Arc<Answer>| match *holds == true.into() {
                    true => then,
                    false => otherwise,
                };
                holds.is_some_and(|holds| self.are_made(side(holds)))
            }
        })
    }

    /// Returns whether a text can be made of what it consists of; otherwise it must be evaluated as a whole.
    pub(crate) fn text_of_pieces(&self, source: &str) -> bool {
        let pieces = self.ground.pieces(source);
        !pieces.iter().any(|piece| piece.has(source)) && self.are_made(&pieces)
    }
}
