//! The plugins that settings switch on: where each of them may lie, installed or in a marketplace's own folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::install::json;
use crate::install::place::{Folders, InstallScope};
use crate::install::settings_files::Settings;
use crate::platform::files;
use crate::wire::javascript_json;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 4 << 20;
/// The most plugins that are looked at, the most marketplaces, and the most versions of a plugin.
const MOST: usize = 500;
/// The keys of the settings that declare marketplaces.
const DECLARED: [&str; 2] = ["extraKnownMarketplaces", "additionalMarketplaces"];
/// What a marketplace is described by.
const CATALOG: &str = ".claude-plugin/marketplace.json";

/// A folder of a plugin, with what its marketplace says of it beside what it says itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Enabled {
    /// Where it is.
    pub folder: PathBuf,
    /// What the settings switch on, as `plugin@marketplace`: several folders may be the same one. Empty for a folder by itself.
    pub id: String,
    /// What the marketplace says.
    pub said: SaidOfPlugin,
    /// Whether the client has installed it in this folder, which is then called by its version.
    pub is_installed: bool,
    /// Whether managed settings switch it on.
    pub is_managed: bool,
}

/// What a marketplace says of a plugin, or a plugin of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SaidOfPlugin {
    /// The files of hooks that it names.
    pub hooks: Vec<String>,
    /// The hooks that stand in it, each as JSON.
    pub own_hooks: Vec<String>,
    /// The folders of skills that it names.
    pub skills: Vec<String>,
    /// The files and folders of commands that it names.
    pub commands: Vec<String>,
}

impl Enabled {
    /// Returns a plugin of which only the folder is known.
    pub fn at(folder: PathBuf) -> Enabled {
        Enabled { folder, ..Enabled::default() }
    }
}

impl SaidOfPlugin {
    /// Reads a marketplace's entry, or a manifest.
    pub fn of(entry: &Value) -> SaidOfPlugin {
        let all = |value| Value::as_array(value).map_or(std::slice::from_ref(value), Vec::as_slice);
        let objects = all(&entry["hooks"]).iter().take(MOST).filter(|hooks| hooks.is_object());
        let by_name = entry["commands"].as_object().into_iter().flatten();
        let by_name = by_name.filter_map(|(_, command)| command["source"].as_str().map(str::to_owned));
        SaidOfPlugin {
            hooks: paths(&entry["hooks"]),
            own_hooks: objects.map(Value::to_string).collect(),
            skills: paths(&entry["skills"]),
            commands: paths(&entry["commands"]).into_iter().chain(by_name).take(MOST).collect(),
        }
    }

    fn add(&mut self, more: &SaidOfPlugin) {
        let lists = [
            (&mut self.hooks, &more.hooks),
            (&mut self.own_hooks, &more.own_hooks),
            (&mut self.skills, &more.skills),
            (&mut self.commands, &more.commands),
        ];
        for (known, more) in lists {
            known.extend_from_slice(more);
            known.sort_unstable();
            known.dedup();
        }
    }
}

/// Returns the plugins that the settings switch on, wherever the client may load them from; and whether there are more than are
/// looked at.
pub fn find(folders: &Folders, settings: &[Settings]) -> (Vec<Enabled>, bool) {
    let mut on: Map<String, Value> = settings.iter().flat_map(|file| object(file, "enabledPlugins")).collect();
    on.retain(|_, value| !matches!(value, Value::Bool(false) | Value::Null));
    let Some(plugins) = folders.plugins.as_ref().filter(|_| !on.is_empty()) else { return (Vec::new(), false) };
    let is_more = on.len() > MOST;
    let managed = settings.iter().filter(|file| file.place.scope == InstallScope::Managed);
    let managed: Vec<String> = managed.flat_map(|file| object(file, "enabledPlugins")).map(|(id, _)| id).collect();
    let list = read(&plugins.join("installed_plugins.json"));
    let known = read(&plugins.join("known_marketplaces.json"));
    let mut marketplaces = Marketplaces::default();
    for file in settings {
        for (name, declared) in DECLARED.iter().flat_map(|key| object(file, key)) {
            marketplaces.declare(&folders.project, &name, &declared["source"]);
        }
    }
    for (name, entry) in known.as_object().into_iter().flatten() {
        marketplaces.declare(&folders.project, name, &entry["source"]);
        marketplaces.places.extend(entry["installLocation"].as_str().map(|path| (folded(name), PathBuf::from(path))));
    }
    let mut found = Vec::new();
    for id in on.keys().take(MOST) {
        let Some((name, marketplace)) = id.rsplit_once('@') else { continue };
        let installed = list["plugins"].as_object().into_iter().flatten().filter(|(key, _)| folded(key) == folded(id));
        let places = installed.flat_map(|(_, places)| places.as_array().into_iter().flatten().take(MOST));
        let installed: Vec<PathBuf> =
            places.filter_map(|place| place["installPath"].as_str()).map(PathBuf::from).collect();
        let mut at = installed.clone();
        let cache = files::entries(&plugins.join("cache").join(marketplace).join(name), MOST);
        at.extend(cache.into_iter().flat_map(|entries| entries.found).map(|entry| entry.path));
        let offers = marketplaces.offers(plugins, name, marketplace);
        let mut said = SaidOfPlugin::default();
        offers.iter().for_each(|offer| said.add(&offer.said));
        let folders = at.into_iter().chain(offers.into_iter().map(|offer| offer.folder));
        found.extend(folders.map(|folder| Enabled {
            is_installed: installed.contains(&folder),
            is_managed: managed.contains(id),
            id: id.clone(),
            said: said.clone(),
            folder,
        }));
    }
    found.sort_unstable();
    found.dedup();
    let is_more = is_more || found.len() > MOST || marketplaces.places.len() > MOST;
    found.truncate(MOST);
    (found, is_more)
}

/// The marketplaces, by their names in small letters.
#[derive(Default)]
struct Marketplaces {
    /// Where each may be: its folder, or its catalog.
    places: Vec<(String, PathBuf)>,
    /// The catalogs that were read.
    catalogs: BTreeMap<PathBuf, Value>,
}

impl Marketplaces {
    /// Takes the place that a source names, where that is on this machine.
    fn declare(&mut self, project: &Path, name: &str, source: &Value) {
        let path = source["path"].as_str().filter(|_| matches!(source["source"].as_str(), Some("directory" | "file")));
        self.places.extend(path.map(|path| (folded(name), project.join(path))));
    }

    /// Returns what the marketplace offers under a plugin's name.
    fn offers(&mut self, plugins: &Path, plugin: &str, marketplace: &str) -> Vec<Enabled> {
        let own = plugins.join("marketplaces").join(marketplace);
        let of_name =
            self.places.iter().take(MOST).filter(|(name, _)| *name == folded(marketplace)).map(|(_, path)| path);
        let mut places: Vec<PathBuf> = of_name.cloned().chain([own.clone(), own.with_extension("json")]).collect();
        places.sort_unstable();
        places.dedup();
        places.iter().flat_map(|place| self.offers_at(place, plugin)).collect()
    }

    fn offers_at(&mut self, place: &Path, plugin: &str) -> Vec<Enabled> {
        let is_catalog = place.extension().is_some_and(|it| it.eq_ignore_ascii_case("json"));
        let catalog = if is_catalog { place.to_path_buf() } else { place.join(CATALOG) };
        let root = if is_catalog { root_of(place) } else { place };
        let catalog = &*self.catalogs.entry(catalog).or_insert_with_key(|path| read(path));
        let above = catalog["metadata"]["pluginRoot"].as_str().unwrap_or_default();
        let entries = catalog["plugins"].as_array().into_iter().flatten();
        let named = entries.filter(|entry| entry["name"].as_str().is_some_and(|name| folded(name) == folded(plugin)));
        let offer = |entry: &Value| {
            let source = entry["source"].as_str().or_else(|| entry["source"]["path"].as_str())?;
            let said = SaidOfPlugin::of(entry);
            // A bare name is looked up below the folder that the catalog names, another path from its root on.
            Some(
                [root.join(source), root.join(above).join(source)]
                    .map(|folder| Enabled { said: said.clone(), ..Enabled::at(folder.components().collect()) }),
            )
        };
        named.take(MOST).filter_map(offer).flatten().collect()
    }
}

/// Returns the folder of a marketplace whose catalog this is.
fn root_of(catalog: &Path) -> &Path {
    let folder = catalog.parent().unwrap_or(catalog);
    if folder.ends_with(".claude-plugin") { folder.parent().unwrap_or(folder) } else { folder }
}

/// Returns the paths among a value that is a path, or some, or something else.
fn paths(value: &Value) -> Vec<String> {
    let all = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    all.iter().filter_map(Value::as_str).take(MOST).map(str::to_owned).collect()
}

fn folded(name: &str) -> String {
    name.to_lowercase()
}

fn object(file: &Settings, key: &str) -> Map<String, Value> {
    // Most files have none; a key may be written with escapes.
    if !file.text.contains(key) && !file.text.contains('\\') {
        return Map::new();
    }
    let span = json::root(&file.text).and_then(|root| json::member(&file.text, &root, key));
    span.and_then(|span| json::parse(&file.text, &span)).unwrap_or_default()
}

fn read(path: &Path) -> Value {
    let text = files::text(path, LARGEST).ok();
    text.and_then(|text| javascript_json::parse(&text)).unwrap_or_default()
}
