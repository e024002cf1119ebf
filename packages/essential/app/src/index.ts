export { adapters } from './adapters.js';
export { application, ids } from './application.js';
export { readSettings, type Settings } from './settings.js';
