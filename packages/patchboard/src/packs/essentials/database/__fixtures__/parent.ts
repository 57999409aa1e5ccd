import { aContext } from '../../__fixtures__/context.ts';
import { aDatabaseTool } from './tool.ts';

// Started and killed by a test: prints the pid of its child while the child runs an endless query.
const [file = ''] = process.argv.slice(2);
const database = aDatabaseTool({ target: { kind: 'sample', file } });
await database.tool.execute({ sql: 'select 1' }, aContext());
const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n';
const running = database.tool.execute({ sql: endless }, aContext());
setImmediate(() => process.stdout.write(`${database.pids().join()}\n`));
await running;
