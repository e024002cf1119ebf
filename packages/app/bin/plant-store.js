#!/usr/bin/env node
import module from 'node:module';

// Node 22 and later keep the compiled code for the next start; Node 20 cannot.
module.enableCompileCache?.();
await import('../dist/src/main.js');
