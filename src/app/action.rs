//! Every action the person can take, by name. What it is called, what it does in words and which keys run it is data:
//! `assets/keymap.toml`.

macro_rules! actions {
    ($($variant:ident = $name:literal),* $(,)?) => {
        /// Something the person can do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Action { $(#[doc = concat!("`", $name, "`")] $variant),* }

        impl Action {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name that keymap and palette use.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// The action of that name.
            pub fn parse(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

actions! {
    Quit = "quit",
    NextPane = "next_pane",
    PreviousPane = "previous_pane",
    FocusTeam = "focus_team",
    FocusApprovals = "focus_approvals",
    FocusBoard = "focus_board",
    FocusInbox = "focus_inbox",
    FocusActivity = "focus_activity",
    Zoom = "zoom",
    Up = "up",
    Down = "down",
    Top = "top",
    Bottom = "bottom",
    PageUp = "page_up",
    PageDown = "page_down",
    Open = "open",
    Back = "back",
    Approve = "approve",
    ApproveNote = "approve_note",
    ApproveAlways = "approve_always",
    Reject = "reject",
    EditPlan = "edit_plan",
    Shutdown = "shutdown",
    StopNow = "stop_now",
    Interrupt = "interrupt",
    Resume = "resume",
    ResumeAll = "resume_all",
    WriteLead = "write_lead",
    WriteMember = "write_member",
    Broadcast = "broadcast",
    Spawn = "spawn",
    NewTask = "new_task",
    Transcript = "transcript",
    Filter = "filter",
    Palette = "palette",
    Help = "help",
    NeedsYou = "needs_you",
    Copy = "copy",
    Mouse = "mouse",
    Clear = "clear",
    Suspend = "suspend",
    PlansAsk = "plans_ask",
    PlansAuto = "plans_auto",
    PlansDeny = "plans_deny",
    SetProtocol = "set_protocol",
    EndRun = "end_run",
    Trace = "trace",
    Costs = "costs",
    CompleteTask = "complete_task",
    ReleaseTask = "release_task",
    DeleteTask = "delete_task",
    RepairTask = "repair_task",
    EditTask = "edit_task",
    EditBlockers = "edit_blockers",
    Close = "close",
    Search = "search",
    NextMatch = "next_match",
    PreviousMatch = "previous_match",
    Submit = "submit",
    Newline = "newline",
    Cancel = "cancel",
    SwitchVerdict = "switch_verdict",
    NextField = "next_field",
    PreviousField = "previous_field",
    Undo = "undo",
    CursorLeft = "cursor_left",
    CursorRight = "cursor_right",
    CursorUp = "cursor_up",
    CursorDown = "cursor_down",
    CursorHome = "cursor_home",
    CursorEnd = "cursor_end",
    WordLeft = "word_left",
    WordRight = "word_right",
    DeleteLeft = "delete_left",
    DeleteRight = "delete_right",
    DeleteWord = "delete_word",
    DeleteToStart = "delete_to_start",
    DeleteToEnd = "delete_to_end",
}
