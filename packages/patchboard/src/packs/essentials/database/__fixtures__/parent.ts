import { aContext } from '../../__fixtures__/context.ts';
import { aDatabaseTool } from './tool.ts';

// Started by a test that kills it: prints the child's number while that child is in a query without end.
const [file = ''] = process.argv.slice(2);
const database = aDatabaseTool({ target: { kind: 'sample', file } });
await database.tool.execute({ sql: 'select 1' }, aContext());
const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n';
const asked = database.tool.execute({ sql: endless }, aContext());
setImmediate(() => process.stdout.write(`${database.pids().join()}\n`));
await asked;
