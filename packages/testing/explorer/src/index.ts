export { type Event, type Explored, explore, type Model, settled } from './explore.js';
