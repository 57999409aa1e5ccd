import { agentsWords } from './zh/agents.ts';
import { approvalsWords } from './zh/approvals.ts';
import { callsWords } from './zh/calls.ts';
import { ledgerWords } from './zh/ledger.ts';
import { failuresWords } from './zh/failures.ts';
import { nodesWords } from './zh/nodes.ts';
import { sharedWords } from './zh/shared.ts';
import { shellWords } from './zh/shell.ts';
import { testerWords } from './zh/tester.ts';
import { toolsWords } from './zh/tools.ts';
import { upstreamsWords } from './zh/upstreams.ts';
import type { en } from './en.ts';
import type { WordsOf } from './words-of.ts';

/** 控制台的全部中文文案。 */
export const zh: WordsOf<typeof en> = {
  ...shellWords,
  ...sharedWords,
  ...callsWords,
  ...approvalsWords,
  ...testerWords,
  ...toolsWords,
  ...upstreamsWords,
  ...nodesWords,
  ...agentsWords,
  ...ledgerWords,
  ...failuresWords,
};
