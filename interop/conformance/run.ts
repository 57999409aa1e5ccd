// Judges the MCP server at a URL: node interop/conformance/run.ts --url http://127.0.0.1:8080/mcp
//   [--requirements 2026-07-28 | --requirements 2025-11-25 | --suite all] [--scenario NAME] [--verbose]
// Prints one line for each scenario and each failed check. The exit code is 1 if a check failed.
import process from 'node:process';
import { parseArgs } from 'node:util';
import { judge } from './referee.ts';

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    requirements: { type: 'string' },
    suite: { type: 'string' },
    scenario: { type: 'string' },
    verbose: { type: 'boolean' },
  },
});
const { url, verbose = false, ...selection } = values;
if (url === undefined) {
  console.error('--url is required: the MCP URL of a server, such as http://127.0.0.1:8080/mcp');
  process.exit(2);
}

const results = await judge(url, selection);
const counts = { SUCCESS: 0, FAILURE: 0, WARNING: 0, SKIPPED: 0, INFO: 0 };
for (const { scenario, checks } of results) {
  const failed = checks.filter(({ status }) => status === 'FAILURE');
  const passed = checks.filter(({ status }) => status === 'SUCCESS');
  console.log(
    `${failed.length === 0 ? '✓' : '✗'} ${scenario}: ${passed.length} passed, ${failed.length} failed`,
  );
  for (const { id, status, description, errorMessage } of checks) {
    counts[status] += 1;
    if (verbose || status === 'FAILURE' || status === 'WARNING')
      console.log(`    ${status} ${id}: ${errorMessage ?? description}`);
  }
}
console.log(
  `${results.length} scenarios, ${counts.SUCCESS} checks passed, ${counts.FAILURE} failed, ${counts.WARNING} warnings`,
);
process.exitCode = counts.FAILURE === 0 ? 0 : 1;
