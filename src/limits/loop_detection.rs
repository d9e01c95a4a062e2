//! Repetition: the same error, the same call with the same result, or the same few calls again and again.

use crate::domain::action::Action;
use crate::domain::limit::Limit;
use crate::domain::limit_meter::{Meter, Stage};
use crate::domain::limit_texts::LimitTexts;
use crate::domain::scope::Scope;
use crate::domain::unit::Unit;

/// The limit on repetition.
pub const LIMIT: Limit = Limit {
    key: "loop_detection",
    texts: LimitTexts {
        label: "repetition",
        stop_reason: "loop_detected",
        phrase: "loop detected",
        advice: Some(
            "Another call, another input, or a look at why the result stays the same would have been progress; \
             `loop_detection: false` in `main`, or in the agent's block of `agents`, switches this off.",
        ),
        ..LimitTexts::PLAIN
    },
    unit: Unit::Switch,
    range: (0, 1),
    scopes: &[Scope::Run],
    meter: Meter::Count {
        used: |meters| meters.repetition,
        adds: |next| match next.stage {
            Stage::Call | Stage::Spawn | Stage::Wake | Stage::Request => Some(0),
            Stage::Prompt | Stage::Result | Stage::End => None,
        },
    },
    action: Some(Action::Terminate),
    announced_first: true,
    agentmd: Some("loop_detection"),
    doc: "Ends a run that repeats itself: the last 3 tool errors identical (same tool, same error, nothing new in \
          between), 9 where their inputs differ by more than numbers and spaces, an identical call with an identical result 5 times in a row, or a cycle of 2 to 5 calls 3 times in a \
          row. An exit code that is an answer and prints nothing (`test`, `pgrep`, `command -v`, `which`, `cmp`, `diff`, `git diff --quiet`, `curl -sf`) is counted for its own command alone. A result that differs is progress. To wait is no loop at full speed: a call that took ten seconds or more by \
          itself and ended well, or that slept for a second or more, may be the same 100 times in a row, where a result of \
          the last 16 different waits is the same. The same error may come the more often the longer was waited for it, \
          whatever the command: ten times for each second, at least 15 and at most 100 times. Up to five errors may come in \
          turn: each is counted by itself, by the longest wait since it came last. An error that is not among the last five \
          is something new. A wait is one that the run shows and its time confirms: a `sleep` in the call or in one \
          before it, a tool that waits by its name, `--watch`, `tail -f` or `wait` for ten seconds or more, and the time \
          between two turns that no person began. A command that uses up a time limit of its own (`--timeout=30s`, \
          `-lock-timeout`, `curl -m`) may do so for about an hour, at least 15 and at most 100 times; one that retries in a \
          loop with a `sleep` 15 times. Work that takes long to fail is no wait. The agent is told first; the limit acts when the repetition goes on. \
          `timeout_action` does not change what it does, `actions` does.",
    example: "false",
    ..Limit::PLAIN
};
