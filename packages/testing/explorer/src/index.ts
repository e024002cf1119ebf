export { type Event, type Explored, explore, settled, type World } from './explore.js';
