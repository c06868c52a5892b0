const { find } = require('../src/find');

test('finds a name', () => {
  expect(find(['a', 'b'], 'a')).toEqual(['a']);
});
