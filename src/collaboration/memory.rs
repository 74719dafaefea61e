//! What a protocol remembers over a restart: structs of plain fields, to and from [`ArgValue`].

use super::ArgValue;
use crate::domain::MemberName;
use std::collections::BTreeMap;

/// What a protocol can keep in a snapshot.
pub trait Remember: Sized {
    /// As a value.
    fn to_value(&self) -> ArgValue;
    /// From a value; `None` when it is of another shape.
    fn from_value(value: &ArgValue) -> Option<Self>;
}

impl Remember for bool {
    fn to_value(&self) -> ArgValue {
        ArgValue::Bool(*self)
    }
    fn from_value(value: &ArgValue) -> Option<Self> {
        match value {
            ArgValue::Bool(yes) => Some(*yes),
            ArgValue::Null | ArgValue::Number(_) | ArgValue::Text(_) | ArgValue::List(_) | ArgValue::Map(_) => None,
        }
    }
}

impl Remember for f64 {
    fn to_value(&self) -> ArgValue {
        ArgValue::Number(*self)
    }
    fn from_value(value: &ArgValue) -> Option<Self> {
        value.as_number()
    }
}

impl Remember for u32 {
    fn to_value(&self) -> ArgValue {
        ArgValue::Number(f64::from(*self))
    }
    fn from_value(value: &ArgValue) -> Option<Self> {
        value.as_number().filter(|n| *n >= 0.0 && *n <= f64::from(u32::MAX)).map(|n| n as u32)
    }
}

impl Remember for String {
    fn to_value(&self) -> ArgValue {
        ArgValue::Text(self.clone())
    }
    fn from_value(value: &ArgValue) -> Option<Self> {
        value.as_text().map(str::to_owned)
    }
}

impl Remember for MemberName {
    fn to_value(&self) -> ArgValue {
        ArgValue::Text(self.as_str().to_owned())
    }
    fn from_value(value: &ArgValue) -> Option<Self> {
        Self::parse(value.as_text()?).ok()
    }
}

impl<T: Remember> Remember for Option<T> {
    fn to_value(&self) -> ArgValue {
        self.as_ref().map_or(ArgValue::Null, Remember::to_value)
    }
    fn from_value(value: &ArgValue) -> Option<Self> {
        if *value == ArgValue::Null { Some(None) } else { T::from_value(value).map(Some) }
    }
}

impl<T: Remember> Remember for Vec<T> {
    fn to_value(&self) -> ArgValue {
        ArgValue::List(self.iter().map(Remember::to_value).collect())
    }
    fn from_value(value: &ArgValue) -> Option<Self> {
        value.as_list()?.iter().map(T::from_value).collect()
    }
}

impl<T: Remember> Remember for BTreeMap<String, T> {
    fn to_value(&self) -> ArgValue {
        ArgValue::Map(self.iter().map(|(key, item)| (key.clone(), item.to_value())).collect())
    }
    fn from_value(value: &ArgValue) -> Option<Self> {
        let ArgValue::Map(map) = value else { return None };
        map.iter().map(|(key, item)| Some((key.clone(), T::from_value(item)?))).collect()
    }
}

/// Declares a struct of [`Remember`] fields that itself is [`Remember`]: a protocol's memory. A field that an older
/// snapshot lacks gets its default.
macro_rules! memory {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $vis struct $name { $($(#[$field_meta])* pub $field: $type,)* }

        impl $crate::collaboration::Remember for $name {
            fn to_value(&self) -> $crate::collaboration::ArgValue {
                let fields = [$((stringify!($field).to_owned(), self.$field.to_value()),)*];
                $crate::collaboration::ArgValue::Map(fields.into_iter().collect())
            }
            fn from_value(value: &$crate::collaboration::ArgValue) -> Option<Self> {
                let $crate::collaboration::ArgValue::Map(map) = value else { return None };
                Some(Self { $($field: match map.get(stringify!($field)) {
                    Some(value) => <$type as $crate::collaboration::Remember>::from_value(value)?,
                    None => Default::default(),
                },)* })
            }
        }
    };
}
pub(crate) use memory;
