import type { ledgerWords as english } from '../en/ledger.ts';
import type { WordsOf } from '../words-of.ts';

export const ledgerWords: WordsOf<typeof english> = {
  ledger: {
    about: '每次变更都有记录，以哈希相连，最早的在前。',
    trace: '链路',
    call: '调用 ID',
    after: '此行之后',
    kind: '种类',
    body: '发生了什么',
    hash: '哈希',
    row: '第 {seq} 行',
    none: '这段时间没有记录。发起一次调用就会有：',
    loaded: '{count} 行。',
    verify: '验证',
    export: '导出',
    holds: '全部 {rows} 行均已验证。',
    broken: '在第 {seq} 行断开：{problem}',
  },
};
