//! `pub mod name { pub const GRAPH: Graph = …; }`: the graph as a constant.

use crate::ast::Head;
use crate::ops::{EdgeKind, Shape};
use crate::plan::Plan;
use crate::plan::picture::{PictureEdge, PictureNode};
use crate::render;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

pub(super) fn module(head: &Head, plan: &Plan) -> TokenStream {
    let (vis, name, picture) = (&head.vis, &head.name, &plan.picture);
    // the function may be compiled under conditions; so is its graph
    let conditions = head.attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    let graph = quote!(::flow_core::graph);
    let text = &picture.name;
    let doc = format!("What is known of the pipeline [`{text}()`] at compile time.");
    let nodes = picture.nodes.iter().map(|node| one_node(node, &graph));
    let edges = picture.edges.iter().map(|edge| one_edge(edge, &graph));
    let (mermaid, dot, svg) = (render::mermaid(picture), render::dot(picture), render::svg(picture));
    quote! {
        #(#conditions)*
        #[doc = #doc]
        #vis mod #name {
            #[doc = "The graph: its operators, how records travel between them, and three pictures of it."]
            pub const GRAPH: #graph::Graph = #graph::Graph {
                name: #text,
                nodes: &[#(#nodes),*],
                edges: &[#(#edges),*],
                mermaid: #mermaid,
                dot: #dot,
                svg: #svg,
            };
        }
    }
}

fn one_node(node: &PictureNode, graph: &TokenStream) -> TokenStream {
    let PictureNode { id, op, stream, state, .. } = node;
    let shape = variant(match node.shape {
        Shape::Plain => "Plain",
        Shape::Keyed => "Keyed",
        Shape::Windowed => "Windowed",
        Shape::Joined => "Joined",
        Shape::Connected | Shape::Beside => "Connected",
        Shape::Unknown => "Unknown",
    });
    let key = match &node.key {
        Some(key) => quote!(::core::option::Option::Some(#key)),
        None => quote!(::core::option::Option::None),
    };
    let states = node.states.iter().map(|(name, ttl)| {
        let ttl = match ttl {
            Some(ttl) => quote!(::core::option::Option::Some(#ttl)),
            None => quote!(::core::option::Option::None),
        };
        quote!(#graph::State { name: #name, ttl: #ttl })
    });
    quote! {
        #graph::Node {
            id: #id, op: #op, stream: #stream, shape: #graph::Shape::#shape, key: #key, state: #state,
            states: &[#(#states),*],
        }
    }
}

fn one_edge(edge: &PictureEdge, graph: &TokenStream) -> TokenStream {
    let PictureEdge { from, to, kind } = edge;
    let kind = variant(match kind {
        EdgeKind::Fused => "Fused",
        EdgeKind::KeyBy => "KeyBy",
        EdgeKind::Global => "Global",
        EdgeKind::Rebalance => "Rebalance",
        EdgeKind::Shuffle => "Shuffle",
        EdgeKind::Broadcast => "Broadcast",
        EdgeKind::Custom => "Custom",
        EdgeKind::Merge => "Merge",
        EdgeKind::Boundary => "Boundary",
    });
    let (from, to) =
        (proc_macro2::Literal::usize_unsuffixed(*from), proc_macro2::Literal::usize_unsuffixed(*to));
    quote!(#graph::Edge { from: #from, to: #to, kind: #graph::EdgeKind::#kind })
}

fn variant(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
