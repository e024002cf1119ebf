import { describeHistories } from './support/explored-worlds.js';

describeHistories(3);
