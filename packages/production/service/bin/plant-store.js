#!/usr/bin/env node
import module from 'node:module';
import { setFlagsFromString } from 'node:v8';

// When the reader of the output has gone, the service goes on.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
// Whoever has changed the tokens may say so before the service has read them.
if (process.env.ACCESS_TOKENS_FILE !== undefined) process.on('SIGHUP', () => {});
// Node 22 and later keep the compiled code for the next start; Node 20 cannot.
module.enableCompileCache?.();
const { main } = await import('../dist/src/main.js');
// After a burst of requests, all waiting for the database, V8 would allocate a part of each further request among what lives
// long. That part keeps the request in memory until a full garbage collection. Not set earlier: code that was compiled with other
// flags takes longer to load.
setFlagsFromString('--no-allocation-site-pretenuring');
process.exitCode = await main(process.argv.slice(2), process);
// The channel of a worker to the primary of its cluster would keep the process alive.
process.channel?.unref();
