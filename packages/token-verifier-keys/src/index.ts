export { fetchJson, type JsonDocument } from './fetch-json.js';
export { FetchedKeys, type FetchedKeysOptions } from './fetched-keys.js';
export { trustedUrl } from './trusted-url.js';
