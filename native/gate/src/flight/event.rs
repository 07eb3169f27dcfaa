// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! The event's type, made and used by calls of JNI: what `jdk.jfr` offers for types that no class describes.

use std::ffi::{CStr, CString};
use std::time::{SystemTime, UNIX_EPOCH};

use super::GatePause;
use crate::jni::{Env, MethodId, Object, Value};
use crate::kernel::now_ns;

/// Local references that making the type needs, with room: about 15 for each field.
const TYPE_REFERENCES: i32 = 256;
/// The same of writing one event: two for each field.
const EVENT_REFERENCES: i32 = 64;

/// What a field holds, and where that is taken from.
enum Content {
    /// A number.
    Count(fn(&GatePause) -> u64),
    /// A length of time, nanoseconds.
    Length(fn(&GatePause) -> u64),
    /// A moment, milliseconds since 1970.
    Moment(fn(&GatePause) -> u64),
    /// A word or two.
    Text(fn(&GatePause) -> &'static str),
}

/// A field of the event, as recordings describe it.
struct Field {
    name: &'static CStr,
    label: &'static CStr,
    description: &'static CStr,
    content: Content,
}

static FIELDS: [Field; 9] = [
    Field {
        name: c"begin",
        label: c"Pause Begin",
        description: c"When the pause began; of one that is no collection, when the gate saw it",
        content: Content::Moment(|pause| epoch_ms(pause.begin_ns)),
    },
    Field {
        name: c"pause",
        label: c"Pause",
        description: c"How long the JVM was stopped",
        content: Content::Length(|pause| pause.length_ns),
    },
    Field {
        name: c"kind",
        label: c"Kind",
        description: c"The collector, as the JVM's counters call it, or 'no collection'",
        content: Content::Text(|pause| pause.kind),
    },
    Field {
        name: c"expected",
        label: c"Expected",
        description: c"How long the gate expected the pause to last: as likely too long as too short",
        content: Content::Length(|pause| pause.expected_ns),
    },
    Field {
        name: c"upperBound",
        label: c"Upper Bound",
        description: c"What nine of ten pauses are shorter than, as the gate expected; requests are answered by this one",
        content: Content::Length(|pause| pause.upper_ns),
    },
    Field {
        name: c"connections",
        label: c"Connections Watched",
        description: c"Connections that the gate could have answered on",
        content: Content::Count(|pause| pause.connections),
    },
    Field {
        name: c"answered",
        label: c"Answered Busy",
        description: c"Requests that the gate answered busy",
        content: Content::Count(|pause| pause.answered),
    },
    Field {
        name: c"wouldAnswer",
        label: c"Would Have Answered",
        description: c"Requests that the gate would have answered busy without dry-run",
        content: Content::Count(|pause| pause.would_answer),
    },
    Field {
        name: c"kept",
        label: c"Kept Waiting",
        description: c"Requests that could wait for the end of the pause, by the gate's decision",
        content: Content::Count(|pause| pause.kept),
    },
];

/// A moment of `CLOCK_MONOTONIC` as milliseconds since 1970.
fn epoch_ms(ns: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    u64::try_from(now.saturating_sub(u128::from(now_ns().saturating_sub(ns))) / 1_000_000).unwrap_or(u64::MAX)
}

/// The class `jdk.jfr.FlightRecorder` and its method that says whether it is initialised, which does not initialise it.
///
/// # Safety
/// `env` is this thread's.
pub unsafe fn find_recorder(env: *mut Env) -> Option<(Object, MethodId)> {
    // SAFETY: as demanded.
    unsafe {
        Env::in_frame(env, EVENT_REFERENCES, || {
            let class = Env::find_class(env, c"jdk/jfr/FlightRecorder")?;
            Some((Env::global(env, class)?, Env::static_method(env, class, c"isInitialized", c"()Z")?))
        })
    }
}

/// What is called to make the type.
struct Maker {
    env: *mut Env,
    object: Object,
    string: Object,
    annotation: (Object, MethodId),
    value: (Object, MethodId),
    as_list: (Object, MethodId),
}

impl Maker {
    /// # Safety
    /// `env` is this thread's, in a frame that outlives the maker.
    unsafe fn new(env: *mut Env) -> Option<Maker> {
        // SAFETY: as demanded.
        unsafe {
            let annotation = Env::find_class(env, c"jdk/jfr/AnnotationElement")?;
            let value = Env::find_class(env, c"jdk/jfr/ValueDescriptor")?;
            let arrays = Env::find_class(env, c"java/util/Arrays")?;
            Some(Maker {
                env,
                object: Env::find_class(env, c"java/lang/Object")?,
                string: Env::find_class(env, c"java/lang/String")?,
                annotation: (annotation, Env::method(env, annotation, c"<init>", c"(Ljava/lang/Class;Ljava/lang/Object;)V")?),
                value: (value, Env::method(env, value, c"<init>", c"(Ljava/lang/Class;Ljava/lang/String;Ljava/util/List;)V")?),
                as_list: (arrays, Env::static_method(env, arrays, c"asList", c"([Ljava/lang/Object;)Ljava/util/List;")?),
            })
        }
    }

    /// A `java.util.List`.
    unsafe fn list(&self, elements: &[Object]) -> Option<Object> {
        // SAFETY: any reference is to an Object.
        unsafe {
            let array = Env::array(self.env, self.object, elements)?;
            Env::call_static_object(self.env, self.as_list.0, self.as_list.1, &[Value { object: array }])
        }
    }

    /// An annotation of jdk.jfr, with its one value.
    unsafe fn annotation(&self, class: &CStr, value: Object) -> Option<Object> {
        // SAFETY: the constructor's types.
        unsafe {
            let class = Env::find_class(self.env, class)?;
            Env::new_object(self.env, self.annotation.0, self.annotation.1, &[Value { object: class }, Value { object: value }])
        }
    }

    /// The same whose value is a string.
    unsafe fn note(&self, class: &CStr, text: &CStr) -> Option<Object> {
        // SAFETY: this thread's environment.
        unsafe { self.annotation(class, Env::string(self.env, text)?) }
    }

    /// A `jdk.jfr.ValueDescriptor`.
    unsafe fn field(&self, field: &Field) -> Option<Object> {
        // SAFETY: the constructor's types.
        unsafe {
            let mut notes = vec![self.note(c"jdk/jfr/Label", field.label)?, self.note(c"jdk/jfr/Description", field.description)?];
            match field.content {
                Content::Length(_) => notes.push(self.note(c"jdk/jfr/Timespan", c"NANOSECONDS")?),
                Content::Moment(_) => notes.push(self.note(c"jdk/jfr/Timestamp", c"MILLISECONDS_SINCE_EPOCH")?),
                Content::Count(_) | Content::Text(_) => {}
            }
            let class = match field.content {
                Content::Text(_) => self.string,
                _ => Env::static_object(self.env, Env::find_class(self.env, c"java/lang/Long")?, c"TYPE", c"Ljava/lang/Class;")?,
            };
            let arguments = [class, Env::string(self.env, field.name)?, self.list(&notes)?].map(|object| Value { object });
            Env::new_object(self.env, self.value.0, self.value.1, &arguments)
        }
    }

    /// What the whole event is called.
    unsafe fn notes(&self) -> Option<Object> {
        // SAFETY: this thread's environment.
        unsafe {
            let category = [Env::string(self.env, c"Lull")?, Env::string(self.env, c"Gate")?];
            let no = Env::static_object(self.env, Env::find_class(self.env, c"java/lang/Boolean")?, c"FALSE", c"Ljava/lang/Boolean;")?;
            self.list(&[
                self.note(c"jdk/jfr/Name", c"lull.GatePause")?,
                self.note(c"jdk/jfr/Label", c"Gate Pause")?,
                self.note(c"jdk/jfr/Description", c"A pause of the JVM, and what the gate did with the requests that came in it")?,
                self.annotation(c"jdk/jfr/Category", Env::array(self.env, self.string, &category)?)?,
                // Of a thread that has none.
                self.annotation(c"jdk/jfr/StackTrace", no)?,
            ])
        }
    }
}

/// `lull.GatePause` as the recorder knows it: global references, and methods of their classes.
pub struct EventType {
    /// A `jdk.jfr.EventType`, which says whether a recording wants it.
    kind: Object,
    is_enabled: MethodId,
    /// A `jdk.jfr.EventFactory`.
    factory: Object,
    new_event: MethodId,
    set: MethodId,
    commit: MethodId,
    /// `java.lang.Long`
    long: Object,
    long_value_of: MethodId,
}

impl EventType {
    /// Makes the type. The recorder must be initialised.
    ///
    /// # Safety
    /// `env` is this thread's.
    pub unsafe fn make(env: *mut Env) -> Option<EventType> {
        // SAFETY: as demanded; the types are those of the methods.
        unsafe {
            Env::in_frame(env, TYPE_REFERENCES, || {
                let maker = Maker::new(env)?;
                let mut fields = Vec::new();
                for field in &FIELDS {
                    fields.push(maker.field(field)?);
                }
                let factory_class = Env::find_class(env, c"jdk/jfr/EventFactory")?;
                let create =
                    Env::static_method(env, factory_class, c"create", c"(Ljava/util/List;Ljava/util/List;)Ljdk/jfr/EventFactory;")?;
                let arguments = [maker.notes()?, maker.list(&fields)?].map(|object| Value { object });
                let factory = Env::call_static_object(env, factory_class, create, &arguments)?;
                let get_type = Env::method(env, factory_class, c"getEventType", c"()Ljdk/jfr/EventType;")?;
                let kind = Env::call_object(env, factory, get_type, &[])?;
                let new_event = Env::method(env, factory_class, c"newEvent", c"()Ljdk/jfr/Event;")?;
                // The recorder has given the methods bodies in the event's own class: in jdk.jfr.Event they do nothing.
                let event_class = Env::class_of(env, Env::call_object(env, factory, new_event, &[])?);
                let long = Env::find_class(env, c"java/lang/Long")?;
                Some(EventType {
                    kind: Env::global(env, kind)?,
                    is_enabled: Env::method(env, Env::class_of(env, kind), c"isEnabled", c"()Z")?,
                    factory: Env::global(env, factory)?,
                    new_event,
                    set: Env::method(env, event_class, c"set", c"(ILjava/lang/Object;)V")?,
                    commit: Env::method(env, event_class, c"commit", c"()V")?,
                    long: Env::global(env, long)?,
                    long_value_of: Env::static_method(env, long, c"valueOf", c"(J)Ljava/lang/Long;")?,
                })
            })
        }
    }

    /// Writes one event; whether a recording wanted it. `None` if the VM has thrown.
    ///
    /// # Safety
    /// `env` is this thread's.
    pub unsafe fn write(&self, env: *mut Env, pause: &GatePause) -> Option<bool> {
        // SAFETY: as demanded; the types are those of the methods and of FIELDS.
        unsafe {
            Env::in_frame(env, EVENT_REFERENCES, || {
                if !Env::call_boolean(env, self.kind, self.is_enabled)? {
                    return Some(false);
                }
                let event = Env::call_object(env, self.factory, self.new_event, &[])?;
                for (index, field) in (0..).zip(&FIELDS) {
                    let object = match field.content {
                        Content::Text(text) => Env::string(env, &CString::new(text(pause)).ok()?)?,
                        Content::Count(number) | Content::Length(number) | Content::Moment(number) => {
                            let long = i64::try_from(number(pause)).unwrap_or(i64::MAX);
                            Env::call_static_object(env, self.long, self.long_value_of, &[Value { long }])?
                        }
                    };
                    Env::call_void(env, event, self.set, &[Value { int: index }, Value { object }])?;
                }
                Env::call_void(env, event, self.commit, &[])?;
                Some(true)
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_javas_and_differ() {
        for (i, field) in FIELDS.iter().enumerate() {
            assert!(field.name.to_bytes().iter().all(u8::is_ascii_alphabetic));
            assert!(FIELDS[..i].iter().all(|other| other.name != field.name && other.label != field.label));
        }
    }

    #[test]
    fn moments_are_of_the_calendar() {
        let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
        let second_ago = epoch_ms(now_ns() - 1_000_000_000);
        assert!((before - 1001..before + 60_000).contains(&second_ago), "{before} {second_ago}");
    }
}
