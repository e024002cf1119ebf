import { describeHistories } from './support/explored-models.js';

describeHistories(3);
