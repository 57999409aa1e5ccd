import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { placeInQuery } from './place-in-query.ts';

describe('placeInQuery', () => {
  it.each([
    ['weather in Beijing', 'Beijing'],
    ['Beijing weather', 'Beijing'],
    ['beijing', 'beijing'],
    ['New York', 'New York'],
    ["What's the weather like in New York?", 'New York'],
    ['What’s the weather in New York like right now?', 'New York'],
    ['temperature in Paris', 'Paris'],
    ['Paris temperature', 'Paris'],
    ['what is the current temperature in Paris, France?', 'Paris, France'],
    ['weather Paris', 'Paris'],
    ['How is the weather in São Paulo today', 'São Paulo'],
    ['how hot is it in Cairo', 'Cairo'],
    ['Is it raining in Seattle?', 'Seattle'],
    ['is it cold outside in Oslo right now?', 'Oslo'],
    ['weather of London', 'London'],
    ['forecast for today in Madrid', 'Madrid'],
    ["today's weather in Rome please", 'Rome'],
    ['In Paris, what is the weather?', 'Paris'],
    ['Please tell me the weather in Tokyo', 'Tokyo'],
    ['Can you check the weather for the city of Lagos?', 'Lagos'],
    ['weather: Berlin', 'Berlin'],
    ['weather in The Hague', 'The Hague'],
    ['The Hague weather', 'The Hague'],
    ['Isle of Man weather', 'Isle of Man'],
    ['Hot Springs weather', 'Hot Springs'],
    ["weather in Coeur d'Alene", "Coeur d'Alene"],
    ["London's weather", 'London'],
    ['weather at Stoke-on-Trent now', 'Stoke-on-Trent'],
    ['WEATHER IN BEIJING', 'BEIJING'],
    ['current weather in Springfield, IL', 'Springfield, IL'],
    ['Wetter in München', 'München'],
  ])('finds the place in %j', (query, place) => {
    expect(placeInQuery(query)).toEqual({ kind: 'place', place, language: 'en' });
  });

  it.each([
    ['北京天气', '北京'],
    ['北京', '北京'],
    ['北京市天气', '北京市'],
    ['上海今天天气怎么样', '上海'],
    ['今天北京的天气怎么样？', '北京'],
    ['请问广州现在多少度', '广州'],
    ['帮我查一下深圳的天气', '深圳'],
    ['查询天气：杭州', '杭州'],
    ['我在成都，今天会下雨吗？', '成都'],
    ['南京热不热', '南京'],
    ['哈尔滨冷吗', '哈尔滨'],
    ['西安气温是多少度？', '西安'],
    ['告诉我 纽约 的实时天气', '纽约'],
    ['New York天气', 'New York'],
    ['天津天气预报', '天津'],
    ['乌鲁木齐有没有下雪', '乌鲁木齐'],
    ['今天天津天气好吗', '天津'],
    ['呼和浩特的湿度', '呼和浩特'],
  ])('finds the place in %j', (query, place) => {
    expect(placeInQuery(query)).toEqual({ kind: 'place', place, language: 'zh' });
  });

  it.each([
    '',
    '   ',
    '???',
    '12345',
    'weather',
    "what's the weather?",
    "What's the weather like today?",
    'is it raining outside',
    'weather here',
    'how hot is it at the moment',
    '天气',
    '今天天气怎么样',
    '外面冷吗？',
    '这里的天气',
    'please write me a long poem about autumn leaves',
    `weather in ${'x'.repeat(200)}`,
  ])('finds none in %j', (query) => {
    expect(placeInQuery(query)).toEqual({ kind: 'no-place' });
  });

  it.each([
    ['weather in Paris tomorrow', 'tomorrow'],
    ['next week weather in Paris', 'next week'],
    ['Will it rain in Rome on Friday?', 'on Friday'],
    ['10-day forecast for Oslo', '10-day'],
    ['北京明天天气', '明天'],
    ['上海周末会下雨吗', '周末'],
    ['广州下周天气', '下周'],
  ])('recognises that %j is about another time', (query, words) => {
    expect(placeInQuery(query)).toEqual({ kind: 'other-time', words });
  });

  it('returns a result for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (query) => {
        expect(placeInQuery(query)).toHaveProperty('kind');
      }),
    );
  });
});
