#!/usr/bin/env node
// `patchboard mcp`: MCP over stdin and stdout, forwarded to the `/mcp` of a running server.
// This file and the folder `mcp` have no dependencies, because MCP clients start them with any Node: they run on Node 18.
import { existsSync, realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Bridge } from './mcp/bridge.mjs';
import { optionsFrom, USAGE, UsageError } from './mcp/options.mjs';
import { hideExperimentalWarnings } from './mcp/stderr.mjs';

const SELF = fileURLToPath(import.meta.url);

/** Runs the bridge until stdin ends; the process exits then. */
export async function main(argv) {
  hideExperimentalWarnings();
  try {
    const options = optionsFrom(argv, process.env);
    if (options === null) process.stdout.write(USAGE);
    else await new Bridge(options).run();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`patchboard: ${error.message}\n(add --help for help)\n`);
    process.exitCode = 2;
  }
}

if (process.argv[1] !== undefined && existsSync(process.argv[1]) && realpathSync(process.argv[1]) === SELF)
  await main(process.argv.slice(2));
