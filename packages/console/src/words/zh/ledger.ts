import type { ledgerWords as english } from '../en/ledger.ts';
import type { WordsOf } from '../words-of.ts';

export const ledgerWords: WordsOf<typeof english> = {
  ledger: {
    about: '每次变更都有记录，以哈希相连，最早的在前。',
    trace: '链路',
    call: '调用 ID',
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
  metrics: {
    about: '点击一个点可打开它的调用。',
    none: '这段时间没有调用。发起一次：',
    cut: '调用太多，无法全部统计：只统计最新的 {count} 个。',
    byState: '各状态的调用',
    latency: '延迟',
    load: '队列',
    devices: '设备',
    loadOfAll: '所有节点的队列',
    loadOfNode: '节点 {node} 的队列',
    devicesOfNode: '节点 {node} 的设备',
    ofNodes:
      '各状态的调用、延迟和所有节点的队列是全部节点的；其他图表和 /metrics 是响应此页的节点 {node} 的。',
    loadAbout: '队列和设备从打开此页起每两秒采样一次；点击一个点可打开它之前一分钟的调用。',
    calls: '{count} 个调用',
    open: '未结束',
    waiting: '等待执行位',
    executing: '执行中',
    approvals: '等待审批',
    online: '在线',
    away: '暂离',
    inFlight: '执行中的调用',
  },
};
