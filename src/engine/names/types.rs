//! The names of one chart with their types: its fields, its lets and the built-in ones.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::chart::Chart;
use crate::chart::model::{Field, FieldType};
use crate::expr::infer;
use crate::expr::types::Type;
use crate::expr::{MAX_DEPTH, single_expression};

/// The names of one chart; `it` differs from place to place.
#[derive(Debug)]
pub struct ChartNames<'c> {
    pub(super) chart: &'c Chart,
    pub(super) it: Option<Type>,
    lets: RefCell<HashMap<String, Type>>,
    pub(super) uses: Uses,
    /// How many nested lets are being resolved.
    depth: Cell<usize>,
}

/// The names that a chart's expressions and texts use.
pub type Uses = Rc<RefCell<BTreeSet<String>>>;

/// Returns the names that a rule's `invoke` can mean; `None` if it can be any text.
pub fn invoked(chart: &Chart, invoke: &str) -> Option<Vec<String>> {
    let Some(expr) = single_expression(invoke) else {
        return Some(vec![invoke.to_owned()]);
    };
    match infer::expression(expr, &ChartNames::new(chart, &Uses::default())).0 {
        Type::Word(words) => Some(words.iter().cloned().collect()),
        _ => None,
    }
}

impl<'c> ChartNames<'c> {
    /// Returns the names that are visible everywhere.
    pub fn new(chart: &'c Chart, uses: &Uses) -> Self {
        Self {
            chart,
            it: None,
            lets: RefCell::new(HashMap::new()),
            depth: Cell::new(0),
            uses: Rc::clone(uses),
        }
    }

    /// Returns the names that are visible where `it` has a value.
    pub fn with_it(chart: &'c Chart, uses: &Uses, it: Type) -> Self {
        Self { it: Some(it), ..Self::new(chart, uses) }
    }

    fn phases(&self) -> Type {
        // A cycle without a phase is reported elsewhere.
        words(self.chart.phases.keys().chain(self.chart.cycles.keys()))
    }

    pub(super) fn field(&self, name: &str) -> Option<Type> {
        self.chart.context.get(name).map(|field| self.typed(field))
    }

    pub(super) fn typed(&self, field: &Field) -> Type {
        let kind = match &field.one_of {
            Some(words) => {
                let word = Type::word(words.iter().cloned());
                match field.kind {
                    FieldType::List => Type::list(word),
                    _ => word,
                }
            }
            None => self.of(field.kind),
        };
        if field.is_nullable() { kind.or_none() } else { kind }
    }

    pub(super) fn of(&self, kind: FieldType) -> Type {
        match kind {
            FieldType::Boolean => Type::Boolean,
            FieldType::Integer => Type::Integer,
            FieldType::Amount => Type::Any,
            FieldType::String => Type::Text,
            FieldType::List => Type::list(Type::Text),
            FieldType::Phase => self.phases(),
        }
    }

    pub(super) fn let_type(&self, name: &str) -> Option<Type> {
        let expr = self.chart.lets.get(name)?;
        if let Some(kind) = self.lets.borrow().get(name) {
            return Some(kind.clone());
        }
        // A let that refers to itself, or too deeply, ends here: `check` reports both.
        self.lets.borrow_mut().insert(name.to_owned(), Type::Any);
        if self.depth.get() >= MAX_DEPTH {
            return Some(Type::Any);
        }
        self.depth.set(self.depth.get() + 1);
        let (kind, _) = infer::expression(&expr.0, self);
        self.depth.set(self.depth.get() - 1);
        self.lets.borrow_mut().insert(name.to_owned(), kind.clone());
        Some(kind)
    }
}

/// Returns the type of a text that is one of these.
pub(super) fn words<'n>(names: impl IntoIterator<Item = &'n String>) -> Type {
    Type::word(names.into_iter().cloned())
}

/// Returns a record in which each of the names has the same type.
pub(super) fn each<'n>(names: impl IntoIterator<Item = &'n String>, kind: &Type) -> Type {
    let names = names.into_iter();
    Type::record(names.map(|name| (name.clone(), kind.clone())))
}
