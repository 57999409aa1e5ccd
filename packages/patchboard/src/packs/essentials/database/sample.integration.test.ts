import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { aContext } from '../__fixtures__/context.ts';
import { aDatabaseTool, aFolder } from './__fixtures__/tool.ts';
import { ensureSample } from './sample.ts';

const folder = aFolder();
afterAll(() => folder.remove());

describe('the sample shop', () => {
  it('is written once and completely, also for concurrent calls', async () => {
    const file = folder.file('nested/deeper/sample.db');
    await Promise.all(Array.from({ length: 8 }, () => ensureSample(file)));
    expect(readdirSync(dirname(file))).toEqual(['sample.db']);
    const written = statSync(file).mtimeMs;
    await ensureSample(file);
    expect(statSync(file).mtimeMs).toBe(written);
  });

  it('is written by the first query', async () => {
    const file = folder.file('lazy.db');
    const database = aDatabaseTool({ target: { kind: 'sample', file } });
    expect(existsSync(file)).toBe(false);
    const sql = `select c.name, sum(i.quantity * i.price_cents) as spent_cents
      from customers c join orders o on o.customer_id = c.id join order_items i on i.order_id = o.id
      where o.status <> 'cancelled' group by c.id order by spent_cents desc limit 3`;
    const result = await database.tool.execute({ sql }, aContext());
    expect(result).toMatchObject({ columns: ['name', 'spent_cents'], row_count: 3 });
    await expect(
      database.tool.execute({ sql: 'select count(*) from products' }, aContext()),
    ).resolves.toMatchObject({ rows: [[15]] });
    await database.close();
  });
});
