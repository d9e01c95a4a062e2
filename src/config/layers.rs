//! Where configuration is read from: one row for each file, the weakest first.

use crate::domain::layer::Layer;

/// The folder that a file lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    /// The client's configuration folder: `$CLAUDE_CONFIG_DIR`, else `~/.claude`.
    Claude,
    /// `.claude` in the project's folder.
    Project,
    /// The platform's folder of managed files.
    Managed,
}

/// What of a file is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePart {
    /// All of it.
    Whole,
    /// The object under [`SETTINGS_KEY`]: the rest belongs to the client.
    Object,
}

/// The key in the client's settings files under which Fusebox's configuration may stand.
pub const SETTINGS_KEY: &str = "fusebox";

/// One file that may hold configuration.
#[derive(Debug)]
pub struct LayerFile {
    /// The layer that its values belong to.
    pub layer: Layer,
    /// Where it lives.
    pub folder: Folder,
    /// Its name.
    pub file: &'static str,
    /// What of it is ours.
    pub part: FilePart,
}

/// Every file, from the weakest to the strongest.
pub const LAYER_FILES: [LayerFile; 8] = [
    LayerFile { layer: Layer::User, folder: Folder::Claude, file: "settings.json", part: FilePart::Object },
    LayerFile { layer: Layer::User, folder: Folder::Claude, file: "fusebox.json", part: FilePart::Whole },
    LayerFile { layer: Layer::Project, folder: Folder::Project, file: "settings.json", part: FilePart::Object },
    LayerFile { layer: Layer::Project, folder: Folder::Project, file: "fusebox.json", part: FilePart::Whole },
    LayerFile {
        layer: Layer::ProjectLocal,
        folder: Folder::Project,
        file: "settings.local.json",
        part: FilePart::Object,
    },
    LayerFile {
        layer: Layer::ProjectLocal,
        folder: Folder::Project,
        file: "fusebox.local.json",
        part: FilePart::Whole,
    },
    LayerFile { layer: Layer::Managed, folder: Folder::Managed, file: "managed-settings.json", part: FilePart::Object },
    LayerFile { layer: Layer::Managed, folder: Folder::Managed, file: "fusebox.json", part: FilePart::Whole },
];

/// The folders whose agents' frontmatter is read, the weakest first.
pub const AGENT_FOLDERS: [Folder; 2] = [Folder::Claude, Folder::Project];

/// Whether a layer speaks for the user or the machine. The others may not loosen what is theirs until the user trusts the
/// repository.
pub fn is_owner(layer: Layer) -> bool {
    matches!(layer, Layer::BuiltIn | Layer::User | Layer::Given | Layer::Managed)
}
