export { application, ids } from './application.js';
export { createContainer } from './container.js';
export { readSettings, type Settings } from './settings.js';
