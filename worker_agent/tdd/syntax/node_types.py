"""The grammars' names for the same things: functions, classes, comments, types, strings, numbers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from worker_agent.tdd.syntax.source import Language


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class NodeTypes:
    """The node types of one language. `closures` are functions whose only name is the one they are bound to."""

    functions: frozenset[str]
    closures: frozenset[str]
    classes: frozenset[str]
    strings: frozenset[str]
    integers: frozenset[str]
    floats: frozenset[str]
    ignored: frozenset[str] = field(default_factory=frozenset)
    """Types, annotations and imports: they have no behaviour that a test could check."""
    unread: frozenset[str] = field(default_factory=frozenset)
    """The part of `ignored` that has no effect when the program runs, so that changing it changes no function."""


COMMENTS = words("comment line_comment block_comment html_comment hash_bang_line")
RETURNS = words("return_statement return_expression return")
TRUE_FALSE = words("true false boolean boolean_literal")
NOTHING = words("none null null_literal nil undefined")

_TYPESCRIPT_TYPES = words(
    "type_annotation type_arguments type_parameters type_predicate_annotation asserts_annotation"
    " interface_declaration type_alias_declaration ambient_declaration function_signature method_signature"
    " abstract_method_signature implements_clause literal_type union_type object_type template_literal_type"
    " intersection_type conditional_type index_type_query lookup_type array_type generic_type predefined_type"
)
_JAVASCRIPT = NodeTypes(
    functions=words("function_declaration generator_function_declaration method_definition"),
    closures=words("arrow_function function_expression generator_function"),
    classes=words("class_declaration class abstract_class_declaration internal_module module"),
    strings=words("string template_string"),
    integers=words("number"),
    floats=words("number"),
    ignored=words("import_statement import_attribute"),
)
_TYPESCRIPT = replace(_JAVASCRIPT, ignored=_JAVASCRIPT.ignored | _TYPESCRIPT_TYPES, unread=_TYPESCRIPT_TYPES)

NODE_TYPES: dict[Language, NodeTypes] = {
    Language.PYTHON: NodeTypes(
        functions=words("function_definition"),
        closures=words("lambda"),
        classes=words("class_definition"),
        strings=words("string"),
        integers=words("integer"),
        floats=words("float"),
        ignored=words("type type_alias_statement import_statement import_from_statement future_import_statement"),
        unread=words("type type_alias_statement"),
    ),
    Language.JAVASCRIPT: _JAVASCRIPT,
    Language.TYPESCRIPT: _TYPESCRIPT,
    Language.TSX: _TYPESCRIPT,
    Language.GO: NodeTypes(
        functions=words("function_declaration method_declaration"),
        closures=words("func_literal"),
        classes=frozenset(),
        strings=words("interpreted_string_literal raw_string_literal"),
        integers=words("int_literal"),
        floats=words("float_literal"),
        ignored=words("import_declaration type_declaration slice_type array_type map_type package_clause"),
    ),
    Language.RUST: NodeTypes(
        functions=words("function_item"),
        closures=words("closure_expression"),
        classes=words("impl_item trait_item mod_item"),
        strings=words("string_literal raw_string_literal"),
        integers=words("integer_literal"),
        floats=words("float_literal"),
        ignored=words(
            "use_declaration attribute_item inner_attribute_item type_item struct_item array_type generic_type"
            " type_arguments reference_type extern_crate_declaration macro_definition"
        ),
    ),
    Language.JAVA: NodeTypes(
        functions=words("method_declaration constructor_declaration compact_constructor_declaration"),
        closures=words("lambda_expression"),
        classes=words("class_declaration interface_declaration enum_declaration record_declaration"),
        strings=words("string_literal"),
        integers=words("decimal_integer_literal hex_integer_literal"),
        floats=words("decimal_floating_point_literal"),
        ignored=words(
            "import_declaration package_declaration annotation marker_annotation type_arguments generic_type"
        ),
    ),
    Language.PHP: NodeTypes(
        functions=words("function_definition method_declaration"),
        closures=words("arrow_function anonymous_function"),
        classes=words("class_declaration interface_declaration trait_declaration enum_declaration"),
        strings=words("string encapsed_string"),
        integers=words("integer"),
        floats=words("float"),
        ignored=words("namespace_use_declaration namespace_definition declare_statement attribute_list"),
    ),
    Language.RUBY: NodeTypes(
        functions=words("method singleton_method"),
        closures=words("lambda block do_block"),
        classes=words("class module singleton_class"),
        strings=words("string"),
        integers=words("integer"),
        floats=words("float"),
    ),
    Language.CSHARP: NodeTypes(
        functions=words(
            "method_declaration constructor_declaration accessor_declaration local_function_statement"
            " operator_declaration conversion_operator_declaration destructor_declaration"
        ),
        closures=words("lambda_expression anonymous_method_expression"),
        classes=words(
            "class_declaration struct_declaration interface_declaration record_declaration enum_declaration"
            " property_declaration indexer_declaration"
        ),
        strings=words("string_literal interpolated_string_expression verbatim_string_literal"),
        integers=words("integer_literal"),
        floats=words("real_literal"),
        ignored=words("using_directive attribute_list array_type generic_name array_rank_specifier"),
    ),
}
