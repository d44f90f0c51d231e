//! Arguments that cannot be a request: told to the script by a failed response or a throw, never counted.

use script::arguments::ArgumentError;

/// Why arguments are no request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong, in k6's words.
    pub message: String,
    /// k6's `error_code`; 0 for most.
    pub code: u16,
}

impl Refusal {
    /// A refusal without a code.
    pub fn new(message: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), code: 0 }
    }
}

impl From<Refusal> for ArgumentError<Refusal> {
    fn from(refusal: Refusal) -> Self {
        ArgumentError::Refused(refusal)
    }
}

/// What arguments were read as, or why they are no request.
pub type Checked<T> = Result<T, ArgumentError<Refusal>>;
