// The cases are in one file for Mocha, because they share services.
import './cases/base-path.js';
import './cases/body.js';
import './cases/connections.js';
import './cases/cors.js';
import './cases/header-fields.js';
import './cases/http-syntax.js';
import './cases/limits.js';
import './cases/order-of-checks.js';
import './cases/routing.js';
import './cases/upgrade.js';
import { stopSharedServices } from './support/service.js';

after(stopSharedServices);
