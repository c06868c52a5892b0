function find(names, name) {
  return names.filter((other) => other === name);
}

module.exports = { find };
